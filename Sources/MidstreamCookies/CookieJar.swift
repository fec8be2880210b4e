public import Foundation
internal import Interception

/// Keeps cookies, and knows which request gets which (RFC 6265 §5).
///
/// ```swift
/// let jar = CookieJar()
/// let client = HTTPClient(baseURL: "https://api.example.com") { CookieInterceptor(jar) }
/// ```
///
/// It may be used by any number of tasks and clients at once. It holds at most 3000 cookies, and 50 of one domain: expired ones
/// give way first, then those that aren't Secure, and among them those that have been neither set nor sent for the longest time. One that
/// isn't Secure never takes the place of one that is (RFC 6265bis §5.7). Of one response it takes the first 150.
public final class CookieJar: Sendable {
    /// Whether the jar knows names below which strangers have theirs, such as `co.uk`: by libpsl's list, or by a closure. Otherwise it
    /// takes only names without a dot for such.
    public let knowsPublicSuffixes: Bool
    private let shelves: Locked<CookieShelves>
    private let isPublicSuffix: @Sendable (String) -> Bool
    private let now: @Sendable () -> Date

    /// Makes a jar.
    ///
    /// - Parameters:
    ///   - cookies: What is in it, in the order of their creation, such as the ``snapshot(includingSessionCookies:)`` of another
    ///     jar. Expired ones are left out; none by default.
    ///   - isPublicSuffix: Whether names below this one, which is in small letters, belong to strangers, as those below `co.uk` do.
    ///     A server can't set a cookie for such a name. nil, the default: the public suffix list of libpsl (`libpsl.so.5`), if the system
    ///     has it, see ``knowsPublicSuffixes``; elsewhere a name without a dot is one.
    ///   - now: The time by which cookies expire; the system's by default.
    public init(
        _ cookies: [Cookie] = [], isPublicSuffix: (@Sendable (String) -> Bool)? = nil,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        var known = isPublicSuffix
        if known == nil, let list = PublicSuffixList.system { known = { list.contains($0) } }
        knowsPublicSuffixes = known != nil
        self.isPublicSuffix = known ?? { !$0.contains(".") }
        self.now = now
        var shelves = CookieShelves()
        let time = now()
        for cookie in cookies { shelves.set(cookie, at: time) }
        self.shelves = Locked(shelves)
    }

    /// The cookies that haven't expired, in the order of their creation.
    public var cookies: [Cookie] {
        let now = now()
        return shelves.withLock { $0.cookies(at: now) }
    }

    /// The cookies that a request to an absolute URL would get, in the order in which they are sent; none for a text that is no
    /// http or https URL.
    public func cookies(for url: String) -> [Cookie] {
        guard let target = CookieTarget(url) else { return [] }
        let now = now()
        return shelves.withLock { $0.cookies(for: target, at: now) }
    }

    /// Puts a cookie into the jar, in the place of one with the same name, domain and path. One that has expired removes that.
    ///
    /// What a server may not do, such as setting a cookie for a public suffix, the caller may.
    public func set(_ cookie: Cookie) {
        let now = now()
        _ = shelves.withLock { $0.set(cookie, at: now) }
    }

    /// Removes a cookie. One that has been set anew meanwhile, for example with another value, stays.
    public func remove(_ cookie: Cookie) {
        shelves.withLock { $0.remove(cookie) }
    }

    /// Removes all cookies. Those of responses to requests that have been sent before aren't kept either.
    public func removeAll() { shelves.withLock { $0.removeAll() } }

    /// Removes the cookies for which the closure returns true. A response that is under way may set them again.
    public func removeAll(where shouldBeRemoved: (Cookie) -> Bool) {
        // The closure is called outside the lock, since it may use the jar.
        let removed = cookies.filter(shouldBeRemoved)
        shelves.withLock { shelves in
            for cookie in removed { shelves.remove(cookie) }
        }
    }

    /// What is to be kept beyond the life of the jar, for ``init(_:isPublicSuffix:now:)``.
    ///
    /// - Parameter includingSessionCookies: Whether cookies without an end are among them; false by default, since servers that
    ///   set such a cookie expect it to be forgotten.
    public func snapshot(includingSessionCookies: Bool = false) -> [Cookie] {
        cookies.filter { includingSessionCookies || $0.expires != nil }
    }
}

extension CookieJar {
    /// What became of one `Set-Cookie` field. Names no value.
    enum Outcome: Equatable, CustomStringConvertible {
        case stored(String)
        case removed(String)
        case refused(String?, CookieRefusal)

        var description: String {
            switch self {
            case .stored(let name): "stored \(name)"
            case .removed(let name): "removed \(name)"
            case .refused(let name, let reason): "ignored \(name ?? "a cookie"): \(reason.rawValue)"
            }
        }
    }

    /// The cookies that are sent to a URL now.
    func take(for url: String) -> [Cookie] {
        guard !shelves.withLock({ $0.isEmpty }), let target = CookieTarget(url) else { return [] }
        let now = now()
        return shelves.withLock { $0.take(for: target, at: now) }
    }

    /// How many `Set-Cookie` fields of one response are looked at: three times what a domain may have. A hostile server could
    /// otherwise keep the jar busy for seconds.
    private static let maximumPerResponse = 3 * CookieShelves.maximumPerDomain

    /// By how many seconds the clocks of a server and of this machine differ at most: a time that is further away is none.
    private static let mostAhead: TimeInterval = 86_400

    /// How often all cookies were removed.
    var removals: Int { shelves.withLock { $0.removals } }

    /// Applies the `Set-Cookie` fields of a response from a URL. Those that a server may not send are ignored.
    ///
    /// - Parameters:
    ///   - serverTimes: Between which the time by the server's clock is; nil: it is that of the jar.
    ///   - removals: How often all cookies had been removed when the request was sent; nil: none is under way.
    func store(_ fields: [String], from url: String, at serverTimes: ClosedRange<Date>? = nil, since removals: Int? = nil)
        -> [Outcome]
    {
        guard let target = CookieTarget(url) else { return [] }
        let now = now()
        let difference = serverTimes.map { now.timeIntervalSince(min(max(now, $0.lowerBound), $0.upperBound)) } ?? 0
        let ahead = abs(difference) <= Self.mostAhead ? difference : 0
        let outcomes = fields.prefix(Self.maximumPerResponse).map {
            store($0, from: target, at: now, ahead: ahead, since: removals)
        }
        return fields.count > outcomes.count ? outcomes + [.refused(nil, .tooMany)] : outcomes
    }

    private func store(
        _ field: String, from target: CookieTarget, at now: Date, ahead: TimeInterval, since removals: Int?
    ) -> Outcome {
        var name: String?
        do throws(CookieRefusal) {
            let line = try SetCookieLine(field)
            name = line.name
            let cookie = try line.cookie(from: target, at: now, ahead: ahead, isPublicSuffix: isPublicSuffix)
            let isOpen = !target.isSecure && !cookie.isSecure
            let refusal: CookieRefusal? = shelves.withLock { shelves in
                if let removals, removals != shelves.removals { return .emptied }
                if isOpen, shelves.hidesSecure(cookie, at: now) { return .hidesSecure }
                return shelves.set(cookie, at: now) ? nil : .noRoom
            }
            if let refusal { throw refusal }
            return cookie.isExpired(at: now) ? .removed(cookie.name) : .stored(cookie.name)
        } catch {
            return .refused(name, error)
        }
    }
}

extension CookieJar: CustomStringConvertible, CustomReflectable {
    /// How many cookies there are.
    public var description: String { "\(cookies.count) cookies" }
    /// Shows the cookies with their values withheld.
    public var customMirror: Mirror { Mirror(self, children: ["cookies": cookies, "knowsPublicSuffixes": knowsPublicSuffixes]) }
}
