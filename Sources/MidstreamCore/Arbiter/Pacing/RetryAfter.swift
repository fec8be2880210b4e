internal import Foundation

extension HTTPResponse {
    /// How long the server asks to wait (RFC 9110 §10.2.3): seconds, or a date, which is read by the server's own clock where the
    /// response tells it. Nil for statuses other than 429 and 503, and for a value that is neither.
    ///
    /// - Parameter now: The time, for a date in a response that doesn't tell the server's.
    func retryAfter(at now: () -> Date) -> Duration? {
        guard status == .tooManyRequests || status == .serviceUnavailable, let value = headers[.retryAfter] else { return nil }
        if value.utf8.allSatisfy({ 48...57 ~= $0 }) {
            // More digits than this is more than 30 years; the cap cuts it in any case.
            return value.isEmpty ? nil : .seconds(Int(value.drop { $0 == "0" }.prefix(9)) ?? 0)
        }
        guard let date = HTTPDate.parse(value) else { return nil }
        let now = headers[.date].flatMap(HTTPDate.parse) ?? now()
        return .seconds(max(0, date.timeIntervalSince(now)))
    }
}
