internal import MidstreamCore

/// What a response says about how many more requests may be made.
struct RateLimitFields: Sendable, Equatable {
    /// So many, in so many seconds.
    struct Policy: Sendable, Equatable {
        let quota: Int
        let seconds: Int
    }

    /// How many requests are left; the least, when there are several.
    var left: Int?
    /// In how many seconds there will be more.
    var seconds: Int?
    /// The strictest of those that are said.
    var policy: Policy?
    /// A field that isn't what it should be, such as `RateLimit`; the others count.
    var malformed: String?

    /// Nothing that can be so long or so many is cut.
    private static let most = 1_000_000_000

    /// - Parameter dialect: Which other fields to read.
    init(_ headers: HTTPHeaders, _ dialect: RateLimit.Dialect?, now: @autoclosure () -> Int) {
        readLimit(headers)
        readPolicy(headers)
        if left == nil, let dialect { readOlder(headers, dialect, now()) }
    }

    /// `RateLimit: "name";r=5;t=30` (draft-ietf-httpapi-ratelimit-headers-11).
    private mutating func readLimit(_ headers: HTTPHeaders) {
        guard headers.contains("RateLimit") else { return }
        guard let list = StructuredList(headers.values("RateLimit")) else { return malformed = "RateLimit" }
        for member in list.members {
            guard case .integer(let left)? = member["r"], left >= 0 else { return malformed = "RateLimit" }
            var seconds: Int?
            if let given = member["t"] {
                guard case .integer(let number) = given, number >= 0 else { return malformed = "RateLimit" }
                seconds = min(number, Self.most)
            }
            if left < self.left ?? .max { (self.left, self.seconds) = (min(left, Self.most), seconds) }
        }
    }

    /// `RateLimit-Policy: "name";q=100;w=60`.
    private mutating func readPolicy(_ headers: HTTPHeaders) {
        guard headers.contains("RateLimit-Policy") else { return }
        guard let list = StructuredList(headers.values("RateLimit-Policy")) else { return malformed = "RateLimit-Policy" }
        for member in list.members {
            guard case .integer(let quota)? = member["q"], quota > 0 else { return malformed = "RateLimit-Policy" }
            // Without a window, or with another unit than requests, it says nothing about a rate of requests.
            guard case .integer(let window)? = member["w"], window > 0 else { continue }
            if let unit = member["qu"], unit != .string("requests") { continue }
            let policy = Policy(quota: min(quota, Self.most), seconds: min(window, Self.most))
            if policy.rate < self.policy?.rate ?? .infinity { self.policy = policy }
        }
    }

    private mutating func readOlder(_ headers: HTTPHeaders, _ dialect: RateLimit.Dialect, _ now: Int) {
        guard let left = headers[dialect.remaining] else { return }
        guard let number = Self.number(left) else { return malformed = "\(dialect.remaining)" }
        self.left = number
        guard let reset = headers[dialect.reset] else { return }
        guard let number = Self.number(reset) else { return malformed = "\(dialect.reset)" }
        seconds = dialect.resetIsTime ? min(max(0, number - now), Self.most) : min(number, Self.most)
    }

    /// Digits only; as many as mean something, the rest makes it no smaller.
    private static func number(_ text: String) -> Int? {
        let text = text.utf8
        guard !text.isEmpty, text.allSatisfy({ 48...57 ~= $0 }) else { return nil }
        let digits = text.drop { $0 == 48 }
        return digits.count > 15 ? 999_999_999_999_999 : digits.reduce(0) { $0 * 10 + Int($1 - 48) }
    }
}

extension RateLimitFields.Policy {
    /// Requests a second.
    var rate: Double { Double(quota) / Double(seconds) }
}
