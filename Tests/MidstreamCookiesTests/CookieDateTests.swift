import Foundation
@testable import MidstreamCookies
import MidstreamCore
import TestSupport
import Testing

@Suite("Dates of cookies (RFC 6265 §5.1.1)")
struct CookieDateTests {
    private static let moment = Date(timeIntervalSince1970: 784_111_777)  // Sun, 06 Nov 1994 08:49:37 GMT

    private func parse(_ text: String) -> Date? { CookieDate.parse(bytes: Array(text.utf8)[...]) }

    @Test(
        "are understood however they are written",
        arguments: [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
            "Sun, 06-Nov-1994 08:49:37 GMT",
            "Sun 06-Nov-1994 08:49:37",
            "06 Nov 1994 08:49:37 GMT",
            "6 nov 94 8:49:37",
            "1994 Nov 6 08:49:37",
            "08:49:37 6 November 1994",
            "Nov,6;08:49:37/1994",
            "Sun, 6th Nov 1994 08:49:37 UTC",
            "Sun, 06 NOVEMBER 1994 08:49:37.123 +0000",
            "Sun\t06\tNov\t1994\t08:49:37",
            "6 Nov 1994 08:49:37 7 Dec 2001 09:50:38",
        ])
    func forms(text: String) {
        #expect(parse(text) == Self.moment)
    }

    @Test(
        "may be any day",
        arguments: [
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
            ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
            ("Thu, 29 Feb 2024 12:00:00 GMT", 1_709_208_000),
            ("Fri, 29 Feb 2000 00:00:00 GMT", 951_782_400),
            ("Tue, 19 Jan 2038 03:14:08 GMT", 2_147_483_648),
            ("Mon, 01 Jan 1601 00:00:00 GMT", -11_644_473_600),
            ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
            ("01-Jan-69 00:00:00", 3_124_224_000),
            ("01-Jan-70 00:00:00", 0),
            ("01-Jan-00 00:00:00", 946_684_800),
            ("01 Mar 100 00:00:00", nil),
        ] as [(String, TimeInterval?)])
    func days(text: String, seconds: TimeInterval?) {
        #expect(parse(text)?.timeIntervalSince1970 == seconds)
    }

    @Test(
        "are none",
        arguments: [
            "", "never", "0", "Sun, 06 Nov 1994", "08:49:37", "Nov 1994 08:49:37", "06 1994 08:49:37", "06 Nov 08:49:37",
            "32 Nov 1994 08:49:37", "00 Nov 1994 08:49:37", "31 Nov 1994 08:49:37", "29 Feb 2023 08:49:37",
            "29 Feb 1900 08:49:37",
            "06 Nov 1600 08:49:37", "06 Nov 1994 24:49:37", "06 Nov 1994 08:60:37", "06 Nov 1994 08:49:60", "06 Nov 1994 08:49",
            "06 Nov 1994 008:49:37", "06 Nov 12345 08:49:37", "06 Nov 1994 8x:49:37", "06 Nop 1994 08:49:37",
            "06 No 1994 08:49:37",
            "1600-11-06T08:49:37Z",
        ])
    func noDates(text: String) {
        #expect(parse(text) == nil)
    }

    @Test("agree with the dates that the library writes")
    func roundTrip() {
        for day in stride(from: -10_000, through: 40_000, by: 97) {
            let date = Date(timeIntervalSince1970: TimeInterval(day * 86_400 + day))
            #expect(parse(HTTPDate.text(date)) == date)
        }
    }
}
