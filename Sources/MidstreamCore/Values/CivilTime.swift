package import Foundation

/// A moment as a date and time of day in UTC, for the dates of HTTP (RFC 9110 §5.6.7) and of cookies (RFC 6265 §5.1.1).
package struct CivilTime: Sendable, Equatable {
    package var year: Int
    /// From 1.
    package var month: Int
    /// From 1.
    package var day: Int
    package var hour: Int
    package var minute: Int
    /// 60 is a leap second, which counts as the one after it.
    package var second: Int

    /// Parsed numbers, which needn't be a moment.
    package init(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
        (self.year, self.month, self.day) = (year, month, day)
        (self.hour, self.minute, self.second) = (hour, minute, second)
    }

    /// A moment, its fraction of a second left out. The years go from 0 to 9999, since no form of a date has room for others.
    package init(_ date: Date) {
        let time = date.timeIntervalSince1970.rounded(.down)
        let range = (-62_167_219_200.0, 253_402_300_799.0)
        // In this order a time that is no number is the earliest one.
        let seconds = time > range.0 ? (time < range.1 ? time : range.1) : range.0
        // Seconds have no room in an Int of 32 bits; days have.
        let days = Int((seconds / 86_400).rounded(.down))
        let rest = Int(seconds - Double(days) * 86_400)
        (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60)
        // The calendar repeats after 400 years, and is simplest in years that begin with March.
        let dayOfEra = Self.remainder(days + Self.daysBefore1970, Self.daysOfEra)
        let era = (days + Self.daysBefore1970 - dayOfEra) / Self.daysOfEra
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100)
        let place = (5 * dayOfYear + 2) / 153
        month = place < 10 ? place + 3 : place - 9
        day = dayOfYear - (153 * place + 2) / 5 + 1
        year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
    }

    /// The moment; nil when there is no such day or time.
    package var date: Date? {
        guard 0...9999 ~= year, 1...12 ~= month, 1...Self.days(of: month, year) ~= day, 0...23 ~= hour, 0...59 ~= minute,
            0...60 ~= second
        else { return nil }
        let rest = (hour * 60 + minute) * 60 + second
        return Date(timeIntervalSince1970: TimeInterval(daysSince1970) * 86_400 + TimeInterval(rest))
    }

    /// From 0 for Sunday.
    package var weekday: Int { Self.remainder(daysSince1970 + 4, 7) }

    private var daysSince1970: Int {
        let year = month <= 2 ? year - 1 : year
        let yearOfEra = Self.remainder(year, 400)
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        let days = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return (year - yearOfEra) / 400 * Self.daysOfEra + days - Self.daysBefore1970
    }

    private static let daysOfEra = 146_097
    /// From the first of March of the year 0.
    private static let daysBefore1970 = 719_468

    /// The remainder from 0, also of a negative number.
    private static func remainder(_ number: Int, _ divisor: Int) -> Int {
        let rest = number % divisor
        return rest < 0 ? rest + divisor : rest
    }

    private static func days(of month: Int, _ year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// The month whose English name begins with three bytes, whatever their case; nil when none does.
    package static func month(_ first: UInt8, _ second: UInt8, _ third: UInt8) -> Int? {
        let names: StaticString = "janfebmaraprmayjunjulaugsepoctnovdec"
        let name = (first.asciiLowercased, second.asciiLowercased, third.asciiLowercased)
        return names.withUTF8Buffer { names in
            (1...12).first { (names[3 * $0 - 3], names[3 * $0 - 2], names[3 * $0 - 1]) == name }
        }
    }
}

extension CivilTime: Comparable {
    /// Whether one comes before the other.
    package static func < (a: CivilTime, b: CivilTime) -> Bool {
        (a.year, a.month, a.day, a.hour, a.minute, a.second) < (b.year, b.month, b.day, b.hour, b.minute, b.second)
    }
}
