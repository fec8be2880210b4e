internal import Foundation
internal import MidstreamCore

/// Nothing that can be so long or so many is cut.
private let most: Int64 = 1_000_000_000

/// The fields of a response that limit further requests.
struct RateLimitFields: Sendable {
    /// So many, in so many seconds.
    struct Policy: Sendable, Equatable {
        let quota: Int
        let seconds: Int

        /// Requests a second.
        var rate: Double { Double(quota) / Double(seconds) }
    }

    /// The limits of one quota.
    struct Limit: Sendable, Equatable {
        /// How many requests are left; the least, when there are several.
        var left: Int?
        /// In how many seconds there will be more.
        var seconds: Int?
        /// The strictest one.
        var policy: Policy?

        mutating func read(left: Int, seconds: Int?) {
            // Of those with equally many left the one that has no more for longest.
            guard (left, -(seconds ?? 0)) < (self.left ?? .max, -(self.seconds ?? 0)) else { return }
            (self.left, self.seconds) = (left, seconds)
        }

        mutating func read(_ policy: Policy) {
            if policy.rate < self.policy?.rate ?? .infinity { self.policy = policy }
        }
    }

    /// The limits of all requests.
    private(set) var general = Limit()
    /// The limits of partitions, by their keys in base64; the first eight.
    private(set) var partitions: [(key: String, limit: Limit)] = []
    /// A field that is malformed, such as `RateLimit`; the others count.
    private(set) var malformed: String?

    /// The quotas that a 429 is about; nil stands for the general one.
    ///
    /// Those of which nothing is left; when none is, all that are named, and the general one only when no other is.
    var usedUp: [String?] {
        let empty = partitions.filter { $0.limit.left == 0 }.map { Optional($0.key) } + (general.left == 0 ? [nil] : [])
        if !empty.isEmpty { return empty }
        return partitions.map { Optional($0.key) } + (partitions.isEmpty || general != Limit() ? [nil] : [])
    }

    /// Whether nothing is said, not even what can't be read.
    var isEmpty: Bool { general == Limit() && partitions.isEmpty && malformed == nil }

    private static let mostPartitions = 8
    private static let longestKey = 1_024

    /// - Parameter dialect: Which other fields to read.
    init(_ headers: HTTPHeaders, _ dialect: RateLimit.Dialect?, now: @autoclosure () -> Int64) {
        // What a cache on the way has kept tells of another time, and maybe of another client: the draft has it ignored.
        guard headers.members(of: .age).first.flatMap({ Int64(digits: $0) }) ?? 0 == 0 else { return }
        read(.rateLimit, of: headers) { $0.readLimit($1) }
        read(.rateLimitPolicy, of: headers) { $0.readPolicy($1) }
        if general.left == nil, partitions.isEmpty, let dialect { readOlder(headers, dialect, now()) }
    }

    /// Reads the members of a field, up to one that is malformed.
    private mutating func read(
        _ name: HTTPHeaders.Name, of headers: HTTPHeaders, _ read: (inout Self, StructuredList.Member) -> Bool
    ) {
        guard headers.contains(name) else { return }
        let members = StructuredList(headers.values(name))?.members
        if members?.allSatisfy({ read(&self, $0) }) != true { malformed = name.rawValue }
    }

    /// `RateLimit: "name";r=5;t=30;pk=:dXNlcg==:` (draft-ietf-httpapi-ratelimit-headers-11).
    private mutating func readLimit(_ member: StructuredList.Member) -> Bool {
        guard case .integer(let left)? = member["r"], left >= 0 else { return false }
        var seconds: Int?
        if let given = member["t"] {
            guard case .integer(let number) = given, number >= 0 else { return false }
            seconds = Int(min(number, most))
        }
        return add(of: member) { $0.read(left: Int(min(left, most)), seconds: seconds) }
    }

    /// `RateLimit-Policy: "name";q=100;w=60;pk=:dXNlcg==:`.
    private mutating func readPolicy(_ member: StructuredList.Member) -> Bool {
        guard case .integer(let quota)? = member["q"], quota > 0 else { return false }
        // Without a window, or with another unit than requests, it isn't a rate of requests.
        guard case .integer(let window)? = member["w"], window > 0 else { return true }
        if let unit = member["qu"], unit != .string("requests") { return true }
        let policy = Policy(quota: Int(min(quota, most)), seconds: Int(min(window, most)))
        return add(of: member) { $0.read(policy) }
    }

    /// Adds a member to the limits of its quota; false when its partition key is malformed.
    private mutating func add(of member: StructuredList.Member, _ read: (inout Limit) -> Void) -> Bool {
        guard let named = member["pk"] else {
            read(&general)
            return true
        }
        guard case .bytes(let key) = named, key.utf8.count <= Self.longestKey else { return false }
        if let place = partitions.firstIndex(where: { $0.key == key }) {
            read(&partitions[place].limit)
        } else if partitions.count < Self.mostPartitions {
            var limit = Limit()
            read(&limit)
            partitions.append((key, limit))
        }
        return true
    }

    private mutating func readOlder(_ headers: HTTPHeaders, _ dialect: RateLimit.Dialect, _ now: Int64) {
        guard let left = headers[dialect.remaining] else { return }
        guard let number = Self.number(left, rounded: .down) else { return malformed = "\(dialect.remaining)" }
        general.left = Int(clamping: number)
        guard let reset = headers[dialect.reset] else { return }
        // A time of day is one of the server's clock, as the date of a `Retry-After` is.
        let serverTime = headers[.date].flatMap { HTTPDate.parse($0) }.map { Int64($0.timeIntervalSince1970) }
        // A time in thirty years isn't one.
        guard let seconds = Self.seconds(reset, isTime: dialect.resetIsTime, now: serverTime ?? now), seconds <= most else {
            return malformed = "\(dialect.reset)"
        }
        general.seconds = Int(seconds)
    }

    /// How long until a reset. Only bare numbers need to be told what they are; dates (RFC 3339) and durations with units are what they say.
    private static func seconds(_ text: String, isTime: Bool, now: Int64) -> Int64? {
        if let number = number(text, rounded: .up) { return isTime ? max(0, number - now) : number }
        // What is longer is neither, and would take its time.
        guard text.utf8.count <= 40 else { return nil }
        if let duration = duration(text) { return duration }
        let precise = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        let date = (try? precise.parse(text)) ?? (try? Date.ISO8601FormatStyle().parse(text))
        return date.map { max(0, Int64(min($0.timeIntervalSince1970, 1e15).rounded(.up)) - now) }
    }

    private static let scales = ["ms": 0.001, "s": 1, "m": 60, "h": 3_600, "d": 86_400]

    /// `6m0s`, `1.5s` or `20ms`, as Go writes durations.
    private static func duration(_ text: String) -> Int64? {
        var rest = text[...]
        var sum = 0.0
        repeat {
            let digits = rest.prefix { $0.isASCII && $0.isNumber || $0 == "." }
            let unit = rest.dropFirst(digits.count).prefix { $0.isASCII && $0.isLetter }
            guard let number = Double(digits), let scale = scales[String(unit)] else { return nil }
            sum += number * scale
            rest = rest[unit.endIndex...]
        } while !rest.isEmpty
        return Int64(min(sum, 1e15).rounded(.up))
    }

    /// Digits, perhaps with a fraction; large numbers are cut to the largest that matters.
    private static func number(_ text: String, rounded rule: FloatingPointRoundingRule) -> Int64? {
        guard text.utf8.allSatisfy({ 48...57 ~= $0 || $0 == UInt8(ascii: ".") }), let number = Double(text) else { return nil }
        return Int64(min(number, 999_999_999_999_999).rounded(rule))
    }
}

extension HTTPHeaders.Name {
    static let rateLimit: Self = "RateLimit"
    static let rateLimitPolicy: Self = "RateLimit-Policy"
}
