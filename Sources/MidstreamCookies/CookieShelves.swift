internal import Foundation
internal import MidstreamCore

/// The cookies of a jar, by domain.
///
/// It never holds more than ``maximumPerDomain`` of one domain and ``maximum`` in all: expired ones go first, then those that aren't
/// Secure, then all others, each time that which has been neither set nor sent for the longest time (RFC 6265bis §5.7).
struct CookieShelves {
    static let maximum = 3000
    static let maximumPerDomain = 50

    private struct Entry {
        var cookie: Cookie
        /// Counts up with each new cookie; one that is overwritten keeps its own.
        let creation: Int
        /// Counts up whenever a cookie is set or sent.
        var lastUse: Int
    }

    private var shelves: [String: [Entry]] = [:]
    private var count = 0
    private var uses = 0
    /// How often all cookies were removed: what a response brings that was under way then isn't kept.
    private(set) var removals = 0

    var isEmpty: Bool { count == 0 }

    /// All cookies that haven't expired, in the order of their creation.
    func cookies(at now: Date) -> [Cookie] {
        shelves.values.joined().filter { !$0.cookie.isExpired(at: now) }.sorted { $0.creation < $1.creation }.map(\.cookie)
    }

    /// The cookies that a request to the target gets: longer paths first, then older ones (RFC 6265 §5.4).
    func cookies(for target: CookieTarget, at now: Date) -> [Cookie] { cookies(at: places(for: target, at: now)) }

    /// The same, and notes that they are sent.
    mutating func take(for target: CookieTarget, at now: Date) -> [Cookie] {
        let places = places(for: target, at: now)
        for place in places {
            uses += 1
            for index in place.indices { shelves[place.domain]?[index].lastUse = uses }
        }
        return cookies(at: places)
    }

    private func places(for target: CookieTarget, at now: Date) -> [(domain: String, indices: [Int])] {
        let names = CookieDomain.namesAbove(target.host).map { String($0) }
        return ([target.host] + names).compactMap { domain in
            guard let shelf = shelves[domain] else { return nil }
            let indices = shelf.indices.filter { index in
                let cookie = shelf[index].cookie
                return (!cookie.isHostOnly || domain == target.host) && (!cookie.isSecure || target.isSecure)
                    && target.isWithin(path: cookie.path) && !cookie.isExpired(at: now)
            }
            return indices.isEmpty ? nil : (domain, indices)
        }
    }

    private func cookies(at places: [(domain: String, indices: [Int])]) -> [Cookie] {
        var entries: [Entry] = []
        for place in places {
            if let shelf = shelves[place.domain] { entries += place.indices.map { shelf[$0] } }
        }
        entries.sort { a, b in
            let (left, right) = (a.cookie.path.utf8.count, b.cookie.path.utf8.count)
            return left == right ? a.creation < b.creation : left > right
        }
        return entries.map(\.cookie)
    }

    /// Puts a cookie in the place of the one that it replaces, or behind the others. One that has expired removes.
    ///
    /// - Returns: Whether there was room: one that isn't Secure takes none from those that are.
    @discardableResult
    mutating func set(_ cookie: Cookie, at now: Date) -> Bool {
        guard !cookie.isExpired(at: now) else {
            remove(where: { $0.replaces(cookie) }, on: cookie.domain)
            return true
        }
        uses += 1
        if let index = shelves[cookie.domain]?.firstIndex(where: { $0.cookie.replaces(cookie) }) {
            shelves[cookie.domain]?[index].cookie = cookie
            shelves[cookie.domain]?[index].lastUse = uses
        } else {
            shelves[cookie.domain, default: []].append(Entry(cookie: cookie, creation: uses, lastUse: uses))
            count += 1
            makeRoom(on: cookie.domain, at: now)
            return shelves[cookie.domain]?.last?.creation == uses
        }
        return true
    }

    /// Removes all cookies, and makes what responses under way bring worthless.
    mutating func removeAll() {
        shelves = [:]
        count = 0
        removals += 1
    }

    /// Removes a cookie, unless it has become another meanwhile.
    mutating func remove(_ cookie: Cookie) { remove(where: { $0 == cookie }, on: cookie.domain) }

    /// Whether a cookie that came by http would stand in the way of one that is Secure (RFC 6265bis §5.7).
    func hidesSecure(_ cookie: Cookie, at now: Date) -> Bool {
        shelves.contains { domain, shelf in
            let isNear =
                CookieDomain.host(domain, isWithin: cookie.domain) || CookieDomain.host(cookie.domain, isWithin: domain)
            return isNear
                && shelf.contains { entry in
                    entry.cookie.isSecure && entry.cookie.name == cookie.name && !entry.cookie.isExpired(at: now)
                        && CookieTarget.path(cookie.path, isWithin: entry.cookie.path)
                }
        }
    }

    private mutating func remove(where shouldBeRemoved: (Cookie) -> Bool, on domain: String) {
        guard var shelf = shelves[domain] else { return }
        let before = shelf.count
        shelf.removeAll { shouldBeRemoved($0.cookie) }
        count -= before - shelf.count
        shelves[domain] = shelf.isEmpty ? nil : shelf
    }

    private mutating func makeRoom(on domain: String, at now: Date) {
        if shelves[domain]?.count ?? 0 > Self.maximumPerDomain {
            remove(where: { $0.isExpired(at: now) }, on: domain)
            while let shelf = shelves[domain], shelf.count > Self.maximumPerDomain { removeLeastUsed(of: shelf) }
        }
        if count > Self.maximum {
            for domain in Array(shelves.keys) { remove(where: { $0.isExpired(at: now) }, on: domain) }
            while count > Self.maximum { removeLeastUsed(of: shelves.values.joined()) }
        }
    }

    private mutating func removeLeastUsed(of entries: some Sequence<Entry>) {
        let rank = { (entry: Entry) in (entry.cookie.isSecure ? 1 : 0, entry.lastUse) }
        guard let oldest = entries.min(by: { rank($0) < rank($1) }) else { return }
        remove(oldest.cookie)
    }
}
