package import Foundation

/// Dates in header fields (RFC 9110 §5.6.7).
package enum HTTPDate {
    /// The three forms that a recipient has to understand, the preferred one first.
    private static let formats = ["EEE, dd MMM yyyy HH:mm:ss 'GMT'", "EEEE, dd-MMM-yy HH:mm:ss 'GMT'", "EEE MMM d HH:mm:ss yyyy"]

    /// The moment that a field value names; nil when it is no date.
    package static func parse(_ text: String) -> Date? {
        for format in formats {
            if let date = formatter(format).date(from: text) { return date }
        }
        return nil
    }

    /// The preferred form, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    package static func text(_ date: Date) -> String { formatter(formats[0]).string(from: date) }

    private static func formatter(_ format: String) -> DateFormatter {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.isLenient = false
        formatter.dateFormat = format
        return formatter
    }
}
