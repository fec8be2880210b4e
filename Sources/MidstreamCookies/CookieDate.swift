internal import Foundation
internal import MidstreamCore

/// The dates of cookies, which servers write in many ways and which are understood in all of them (RFC 6265 §5.1.1).
enum CookieDate {
    /// The moment that an `Expires` names; nil when it names none.
    static func parse(_ text: some StringProtocol) -> Date? {
        var time: (hour: Int, minute: Int, second: Int)?
        var day: Int?
        var month: Int?
        var year: Int?
        for token in text.utf8.split(whereSeparator: isDelimiter) {
            // Each token is the first of these that is still wanted and that it can be.
            if time == nil, let found = self.time(token) {
                time = found
            } else if day == nil, let found = number(token, digits: 1...2) {
                day = found
            } else if month == nil, let found = self.month(token) {
                month = found
            } else if year == nil, let found = number(token, digits: 2...4) {
                year = found
            }
        }
        guard let time, let day, let month, var year else { return nil }
        if 70...99 ~= year { year += 1900 } else if 0...69 ~= year { year += 2000 }
        guard year >= 1601, 1...daysOf(month, year) ~= day, time.hour < 24, time.minute < 60, time.second < 60 else { return nil }
        let seconds = ((daysSince1970(year, month, day) * 24 + time.hour) * 60 + time.minute) * 60 + time.second
        return Date(timeIntervalSince1970: TimeInterval(seconds))
    }

    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    /// The number that a token begins with, when it has so many digits and no more.
    private static func number(_ token: some Collection<UInt8>, digits: ClosedRange<Int>) -> Int? {
        let found = token.prefix { 48...57 ~= $0 }
        guard digits ~= found.count else { return nil }
        return found.reduce(0) { $0 * 10 + Int($1 - 48) }
    }

    private static func time(_ token: some Collection<UInt8>) -> (Int, Int, Int)? {
        let parts = token.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
        // Only the last part may have something behind its digits.
        guard parts.count == 3, parts[0].count <= 2, parts[1].count <= 2,
            parts[0].allSatisfy({ 48...57 ~= $0 }), parts[1].allSatisfy({ 48...57 ~= $0 }),
            let hour = number(parts[0], digits: 1...2), let minute = number(parts[1], digits: 1...2),
            let second = number(parts[2], digits: 1...2)
        else { return nil }
        return (hour, minute, second)
    }

    private static func month(_ token: some Collection<UInt8>) -> Int? {
        let name = token.prefix(3).map(\.asciiLowercased)
        return months.firstIndex { $0.elementsEqual(name) }.map { $0 + 1 }
    }

    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"].map {
        Array($0.utf8)
    }

    private static func daysOf(_ month: Int, _ year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Days of the Gregorian calendar, counted in years that begin with March so that a leap day is the last.
    private static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return year * 365 + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
    }
}
