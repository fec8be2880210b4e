package import Foundation

extension HTTPResponse {
    /// How long the server asks to wait (RFC 9110 §10.2.3): seconds, or a date, which is read by the server's own clock where the
    /// response tells it. The time for which a cache has kept it is taken off. Nil for statuses other than 429 and 503, and for a value
    /// that is neither.
    ///
    /// - Parameter now: The time, for a date in a response that doesn't tell the server's.
    package func retryAfter(at now: () -> Date) -> Duration? {
        guard status == .tooManyRequests || status == .serviceUnavailable, let value = headers[.retryAfter] else { return nil }
        // Of a list the first counts (RFC 9111 §5.1). What is longer than 68 years is longer than what is asked for.
        let age = min(headers.members(of: .age).first.flatMap { Int64(digits: $0) } ?? 0, 1 << 31)
        if value.utf8.allSatisfy({ 48...57 ~= $0 }) {
            // More digits than this is more than 30 years; the cap cuts it in any case.
            let digits = value.utf8.drop { $0 == 48 }.prefix(9)
            return value.isEmpty ? nil : .seconds(max(0, (Int64(Substring(digits)) ?? 0) - age))
        }
        let serverTime = headers[.date].flatMap { HTTPDate.parse($0) }.map { $0 + Double(age) } ?? now()
        guard let date = HTTPDate.parse(value, now: serverTime) else { return nil }
        return .seconds(max(0, min(date.timeIntervalSince(serverTime), 1e9)))
    }
}
