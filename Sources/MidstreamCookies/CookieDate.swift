internal import Foundation
internal import MidstreamCore

/// The dates of cookies, which servers write in many ways and which are understood in all of them (RFC 6265 §5.1.1).
enum CookieDate {
    /// The moment that an `Expires` names; nil when it names none.
    static func parse(bytes: ArraySlice<UInt8>) -> Date? {
        var reader = CookieDateReader()
        var start = bytes.startIndex
        while start < bytes.endIndex {
            var end = start
            while end < bytes.endIndex, !isDelimiter(bytes[end]) { end += 1 }
            if end > start { reader.read(bytes[start..<end]) }
            start = end + 1
        }
        return reader.date
    }

    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }
}

private struct CookieDateReader {
    private var time: (hour: Int, minute: Int, second: Int)?
    private var day: Int?
    private var month: Int?
    private var year: Int?

    /// Each token is the first of these that is still wanted and that it can be.
    mutating func read(_ token: ArraySlice<UInt8>) {
        if time == nil, let found = Self.time(token) {
            time = found
        } else if day == nil, let found = Self.number(token, digits: 1...2) {
            day = found
        } else if month == nil, let found = Self.month(token) {
            month = found
        } else if year == nil, let found = Self.number(token, digits: 2...4) {
            year = found
        }
    }

    var date: Date? {
        guard let time, let day, let month, var year, time.second < 60 else { return nil }
        if 70...99 ~= year { year += 1900 } else if 0...69 ~= year { year += 2000 }
        guard year >= 1601 else { return nil }
        return CivilTime(
            year: year, month: month, day: day, hour: time.hour, minute: time.minute, second: time.second
        ).date
    }

    /// The number that a token begins with, when it has so many digits and no more.
    private static func number(_ token: ArraySlice<UInt8>, digits: ClosedRange<Int>) -> Int? {
        var (number, count) = (0, 0)
        for byte in token {
            guard 48...57 ~= byte else { break }
            count += 1
            guard count <= digits.upperBound else { return nil }
            number = number * 10 + Int(byte - 48)
        }
        return digits ~= count ? number : nil
    }

    private static func time(_ token: ArraySlice<UInt8>) -> (Int, Int, Int)? {
        // Only the last part may have something behind its digits.
        guard let first = token.prefix(3).firstIndex(of: UInt8(ascii: ":")), let hour = whole(token[..<first]) else { return nil }
        let rest = token[(first + 1)...]
        guard let second = rest.prefix(3).firstIndex(of: UInt8(ascii: ":")), let minute = whole(rest[..<second]),
            let seconds = number(rest[(second + 1)...], digits: 1...2)
        else { return nil }
        return (hour, minute, seconds)
    }

    /// The number that one or two bytes are.
    private static func whole(_ bytes: ArraySlice<UInt8>) -> Int? {
        bytes.allSatisfy { 48...57 ~= $0 } ? number(bytes, digits: 1...2) : nil
    }

    private static func month(_ token: ArraySlice<UInt8>) -> Int? {
        guard token.count >= 3 else { return nil }
        let start = token.startIndex
        return CivilTime.month(token[start], token[start + 1], token[start + 2])
    }
}
