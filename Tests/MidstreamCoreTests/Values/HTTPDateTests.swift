import Foundation
@testable import MidstreamCore
import Testing

@Suite("Dates in header fields (RFC 9110 §5.6.7)")
struct HTTPDateTests {
    private static let moment = Date(timeIntervalSince1970: 784_111_777)

    @Test(
        "the three forms are understood",
        arguments: [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
            "Sun Nov 06 08:49:37 1994",
            // A day that isn't that of the date is the sender's mistake, and case is forgiven.
            "Mon, 06 Nov 1994 08:49:37 GMT", "Wednesday, 06-Nov-94 08:49:37 GMT", "sun, 06 NOV 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 gmt",
        ])
    func forms(text: String) {
        #expect(HTTPDate.parse(text, now: Self.moment) == Self.moment)
    }

    @Test(
        "anything else is no date",
        arguments: [
            "", "0", "Sun", "never, 06 Nov 1994 08:49:37 GMT", "Foo, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37",
            "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37 GMT ", "Sun, 6 Nov 1994 08:49:37 GMT",
            "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 31 Nov 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT",
            "Sun, 29 Feb 1900 08:49:37 GMT", "Sun, 06 Nob 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
            "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 06 Nov 1994 08-49-37 GMT",
            "Sun, 06 Nov 199x 08:49:37 GMT", "Sun, +6 Nov 1994 08:49:37 GMT", "Sun, ü6 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-1994 08:49:37 GMT", "Sundae, 06-Nov-94 08:49:37 GMT", "Sun, 06-Nov-94 08:49:37 GMT",
            "Sunday Nov  6 08:49:37 1994", "Sun Nov  6 08:49:37 94  ", "Sun Nov   08:49:37 1994",
        ])
    func noDates(text: String) {
        #expect(HTTPDate.parse(text, now: Self.moment) == nil)
    }

    @Test(
        "a year of two digits is at most fifty years ahead",
        arguments: [
            // The moment is 08:49:37 on the 6th of November 1994.
            ("06-Nov-44 08:49:37", 2044), ("06-Nov-44 08:49:38", 1944), ("07-Nov-44 00:00:00", 1944),
            ("01-Jan-44 00:00:00", 2044),
            ("06-Nov-94 08:49:37", 1994), ("06-Nov-95 08:49:37", 1995), ("06-Nov-00 08:49:37", 2000),
            ("06-Nov-45 00:00:00", 1945),
        ])
    func twoDigits(text: String, year: Int) throws {
        let date = try #require(HTTPDate.parse("Sunday, \(text) GMT", now: Self.moment))
        #expect(CivilTime(date).year == year)
    }

    @Test("a leap second counts as the one after it")
    func leapSecond() {
        #expect(HTTPDate.parse("Sat, 31 Dec 2016 23:59:60 GMT") == HTTPDate.parse("Sun, 01 Jan 2017 00:00:00 GMT"))
    }

    @Test("what is written is what Foundation writes, and reads back")
    func againstFoundation() {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        // From 1600, since Foundation's calendar is the Julian one before.
        for day in stride(from: -135_000, through: 2_932_896, by: 811) {
            let date = Date(timeIntervalSince1970: TimeInterval(day * 86_400 + abs(day) * 7919 % 86_400))
            let text = HTTPDate.text(date)
            #expect(text == formatter.string(from: date))
            #expect(HTTPDate.parse(text) == date)
        }
    }

    @Test("a moment that has no such form is written as the nearest that has")
    func outOfRange() {
        for time in [Double.infinity, 1e300, 253_402_300_800] {
            #expect(HTTPDate.text(Date(timeIntervalSince1970: time)) == "Fri, 31 Dec 9999 23:59:59 GMT")
        }
        for time in [-Double.infinity, -1e300, .nan] {
            #expect(HTTPDate.text(Date(timeIntervalSince1970: time)) == "Sat, 01 Jan 0000 00:00:00 GMT")
        }
        #expect(HTTPDate.text(Date(timeIntervalSince1970: -0.5)) == "Wed, 31 Dec 1969 23:59:59 GMT")
    }
}
