package import Foundation

/// Dates in header fields (RFC 9110 §5.6.7).
package enum HTTPDate {
    /// The moment that a field value names in one of the three forms that a recipient has to understand; nil when it is no date.
    ///
    /// The day of the week has to be one, and isn't compared with the date. Case doesn't matter, as RFC 9111 §4.2 wants it of caches.
    ///
    /// - Parameter now: The moment near which a year of two digits lies; only the second form has one.
    package static func parse(_ text: String, now: @autoclosure () -> Date = Date()) -> Date? {
        text[...].withBytes { parse($0, now: now()) }
    }

    /// The same, of a value that is no string yet.
    package static func parse(_ bytes: UnsafeBufferPointer<UInt8>, now: @autoclosure () -> Date) -> Date? {
        // The day's name shows the form: three letters and a comma, three letters, or the whole name.
        guard 24...33 ~= bytes.count else { return nil }
        if bytes[3] == UInt8(ascii: ",") { return preferred(bytes) }
        return bytes[3] == UInt8(ascii: " ") ? asctime(bytes) : rfc850(bytes, now: now())
    }

    /// The preferred form, such as `Sun, 06 Nov 1994 08:49:37 GMT`. Years before 0 and behind 9999, which it has no room for, become
    /// those.
    package static func text(_ date: Date) -> String {
        let time = CivilTime(date)
        return String(unsafeUninitializedCapacity: 29) { bytes in
            _ = bytes.initialize(from: "Sun, 06 Nov 1994 08:49:37 GMT".utf8)
            for place in 0..<3 {
                bytes[place] = dayNames[time.weekday][place]
                bytes[8 + place] = monthNames[time.month - 1][place]
            }
            let numbers = [(5, time.day), (12, time.year / 100), (14, time.year % 100), (17, time.hour), (20, time.minute)]
            for (place, number) in numbers + [(23, time.second)] {
                bytes[place] = UInt8(48 + number / 10)
                bytes[place + 1] = UInt8(48 + number % 10)
            }
            return 29
        }
    }

    private static let dayNames = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"].map {
        Array($0.utf8)
    }

    private static let monthNames = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"].map {
        Array($0.utf8)
    }
}

extension HTTPDate {
    private typealias Bytes = UnsafeBufferPointer<UInt8>

    /// `Sun, 06 Nov 1994 08:49:37 GMT`.
    private static func preferred(_ bytes: Bytes) -> Date? {
        guard bytes.count == 29, isDayName(bytes[..<3], length: 3), matches(bytes, ", .. ... .... ..:..:.. GMT", from: 3),
            let day = number(bytes, 5), let month = CivilTime.month(bytes[8], bytes[9], bytes[10]),
            let century = number(bytes, 12), let year = number(bytes, 14)
        else { return nil }
        return date(bytes, year: century * 100 + year, month: month, day: day, clock: 17)
    }

    /// `Sun Nov  6 08:49:37 1994`.
    private static func asctime(_ bytes: Bytes) -> Date? {
        guard bytes.count == 24, isDayName(bytes[..<3], length: 3), matches(bytes, " ... .. ..:..:.. ....", from: 3),
            let month = CivilTime.month(bytes[4], bytes[5], bytes[6]),
            let day = bytes[8] == 32 ? digit(bytes[9]) : number(bytes, 8),
            let century = number(bytes, 20), let year = number(bytes, 22)
        else { return nil }
        return date(bytes, year: century * 100 + year, month: month, day: day, clock: 11)
    }

    /// `Sunday, 06-Nov-94 08:49:37 GMT`.
    private static func rfc850(_ bytes: Bytes, now: Date) -> Date? {
        let end = bytes.count - 24
        guard end >= 6, isDayName(bytes[..<end], length: end), matches(bytes, ", ..-...-.. ..:..:.. GMT", from: end),
            let day = number(bytes, end + 2), let month = CivilTime.month(bytes[end + 5], bytes[end + 6], bytes[end + 7]),
            let digits = number(bytes, end + 9), let (hour, minute, second) = clock(bytes, end + 12)
        else { return nil }
        let now = CivilTime(now)
        var time = CivilTime(
            year: now.year - now.year % 100 + 100 + digits, month: month, day: day, hour: hour, minute: minute, second: second)
        // A year that seems more than 50 years ahead is the last such year in the past.
        time.year -= 50
        while time > now { time.year -= 100 }
        time.year += 50
        return time.date
    }

    private static func date(_ bytes: Bytes, year: Int, month: Int, day: Int, clock place: Int) -> Date? {
        guard let (hour, minute, second) = clock(bytes, place) else { return nil }
        return CivilTime(year: year, month: month, day: day, hour: hour, minute: minute, second: second).date
    }

    private static func clock(_ bytes: Bytes, _ place: Int) -> (hour: Int, minute: Int, second: Int)? {
        guard let hour = number(bytes, place), let minute = number(bytes, place + 3), let second = number(bytes, place + 6) else {
            return nil
        }
        return (hour, minute, second)
    }

    /// Whether the bytes are those of the pattern, in which a dot stands for any.
    private static func matches(_ bytes: Bytes, _ pattern: StaticString, from start: Int) -> Bool {
        pattern.withUTF8Buffer { pattern in
            guard start + pattern.count == bytes.count else { return false }
            for place in 0..<pattern.count where pattern[place] != UInt8(ascii: ".") {
                if pattern[place].asciiLowercased != bytes[start + place].asciiLowercased { return false }
            }
            return true
        }
    }

    /// Whether this is the name of a day of the week, cut to a number of letters.
    private static func isDayName(_ bytes: Slice<Bytes>, length: Int) -> Bool {
        dayNames.contains { name in
            length == 3 || name.count == length ? zip(name, bytes).allSatisfy { $0.asciiLowercased == $1.asciiLowercased } : false
        }
    }

    private static func digit(_ byte: UInt8) -> Int? { 48...57 ~= byte ? Int(byte - 48) : nil }

    private static func number(_ bytes: Bytes, _ place: Int) -> Int? {
        guard let tens = digit(bytes[place]), let ones = digit(bytes[place + 1]) else { return nil }
        return tens * 10 + ones
    }
}
