package import Foundation

extension HTTPResponse {
    /// How long the server asks to wait (RFC 9110 §10.2.3): seconds, or a date, which is read by the server's own clock where the
    /// response tells it. The time for which a cache has kept it is taken off. Where a server and what stands before it have each sent one,
    /// the first counts. Nil for statuses other than 429, 503 and 529, by which some say the same, and for a value that is
    /// neither.
    ///
    /// - Parameter now: The time, for a date in a response that doesn't tell the server's.
    package func retryAfter(at now: () -> Date) -> Duration? {
        guard status == .tooManyRequests || status == .serviceUnavailable || status == 529,
            let value = headers.values(.retryAfter).first
        else { return nil }
        if value.utf8.allSatisfy({ 48...57 ~= $0 || $0 == UInt8(ascii: ".") }) {
            // Some servers send a fraction. What is longer than 30 years is cut in any case.
            return Double(value).map { .seconds(max(0, min($0, 1e9) - Double(headers.age))) }
        }
        let serverTime = headers.serverTime ?? now()
        guard let date = HTTPDate.parse(value, now: serverTime) else { return nil }
        return .seconds(max(0, min(date.timeIntervalSince(serverTime), 1e9)))
    }
}

extension HTTPHeaders {
    /// The server's time: the response's `Date`, and the time for which a cache has kept it since. Nil: it doesn't tell.
    package var serverTime: Date? { serverTimes?.upperBound }

    /// Between which times the server's is: who stands before a cache may have written a `Date` of its own beside the cache's `Age`.
    package var serverTimes: ClosedRange<Date>? { self[.date].flatMap { HTTPDate.parse($0) }.map { $0...($0 + Double(age)) } }

    /// For how many seconds a cache has kept the response. Of a list the first counts (RFC 9111 §5.1). What is longer than 68 years is longer
    /// than what anything is asked for.
    fileprivate var age: Int64 { Swift.min(members(of: .age).first.flatMap { Int64(digits: $0) } ?? 0, 1 << 31) }
}
