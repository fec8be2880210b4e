internal import Foundation

/// The cookies of a jar, by domain.
///
/// It never holds more than ``maximumPerDomain`` of one domain and ``maximum`` in all: expired ones go first, then those that aren't
/// Secure, then all others, each time that which has been neither set nor sent for the longest time (RFC 6265bis §5.7).
struct CookieShelves {
    static let maximum = 3000
    static let maximumPerDomain = 50

    struct Entry: Sendable {
        var cookie: Cookie
        /// Counts up with each new cookie; one that is overwritten keeps its own.
        let creation: Int
        /// Counts up whenever a cookie is set or sent.
        var lastUse: Int
    }

    private var shelves: [String: [Entry]] = [:]
    private var count = 0
    private var uses = 0
    // Two indices: those that aren't Secure go first, and their last uses are higher than those of some Secure ones.
    private var usesOfOpen = CookieIndex<Int> { $0.cookie.isSecure ? nil : $0.lastUse }
    private var usesOfSecure = CookieIndex<Int> { $0.cookie.isSecure ? $0.lastUse : nil }
    private var ends = CookieIndex<Date> { $0.cookie.expires }
    private var namesOfSecure = CookieIndex<NameBelow> { entry in
        entry.cookie.isSecure ? NameBelow(name: entry.cookie.name, domain: entry.cookie.domain) : nil
    }
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
            for index in place.indices {
                shelves[place.domain]?[index].lastUse = uses
                if let entry = shelves[place.domain]?[index] { noteUse(of: entry) }
            }
        }
        return cookies(at: places)
    }

    private func places(for target: CookieTarget, at now: Date) -> [(domain: String, indices: [Int])] {
        CookieDomain.names(from: target.host).compactMap { domain in
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
            if let entry = shelves[cookie.domain]?[index] { noteChange(of: entry) }
            return true
        }
        let entry = Entry(cookie: cookie, creation: uses, lastUse: uses)
        shelves[cookie.domain, default: []].append(entry)
        count += 1
        noteChange(of: entry)
        makeRoom(on: cookie.domain, at: now)
        return shelves[cookie.domain]?.last?.creation == uses
    }

    /// Removes all cookies, and makes what responses under way bring worthless.
    mutating func removeAll() {
        let removals = removals + 1
        self = CookieShelves()
        self.removals = removals
    }

    /// Removes a cookie, unless it has become another meanwhile.
    mutating func remove(_ cookie: Cookie) { remove(where: { $0 == cookie }, on: cookie.domain) }

    /// Whether a cookie that came by http would stand in the way of one that is Secure (RFC 6265bis §5.7).
    func hidesSecure(_ cookie: Cookie, at now: Date) -> Bool {
        let isHidden = { (entry: Entry) in
            entry.cookie.isSecure && entry.cookie.name == cookie.name && !entry.cookie.isExpired(at: now)
                && CookieTarget.path(cookie.path, isWithin: entry.cookie.path)
        }
        return CookieDomain.names(from: cookie.domain).contains { shelves[$0]?.contains(where: isHidden) ?? false }
            || namesOfSecure.entries(from: NameBelow(name: cookie.name, domain: "." + cookie.domain), in: shelves) {
                $0.name == cookie.name && CookieDomain.host($0.domain, isWithin: cookie.domain)
            }.contains(where: isHidden)
    }

    /// Updates the indices by last use with a cookie that was sent.
    private mutating func noteUse(of entry: Entry) {
        usesOfOpen.insert(entry, of: shelves, total: count)
        usesOfSecure.insert(entry, of: shelves, total: count)
    }

    /// Updates all indices with a cookie that was set.
    private mutating func noteChange(of entry: Entry) {
        noteUse(of: entry)
        ends.insert(entry, of: shelves, total: count)
        namesOfSecure.insert(entry, of: shelves, total: count)
    }

    private mutating func remove(where shouldBeRemoved: (Cookie) -> Bool, on domain: String) {
        guard let before = shelves[domain]?.count else { return }
        // Changed in place, since copying a shelf costs more than searching it.
        shelves[domain]?.removeAll { shouldBeRemoved($0.cookie) }
        let rest = shelves[domain]?.count ?? 0
        count -= before - rest
        if rest == 0 { shelves[domain] = nil }
    }

    private mutating func makeRoom(on domain: String, at now: Date) {
        if shelves[domain]?.count ?? 0 > Self.maximumPerDomain {
            remove(where: { $0.isExpired(at: now) }, on: domain)
            while shelves[domain]?.count ?? 0 > Self.maximumPerDomain { removeLeastUsed(of: domain) }
        }
        guard count > Self.maximum else { return }
        while let entry = ends.popFirst(in: shelves, isDue: { $0 <= now }) { remove(entry.cookie) }
        while count > Self.maximum, let entry = usesOfOpen.popFirst(in: shelves) ?? usesOfSecure.popFirst(in: shelves) {
            remove(entry.cookie)
        }
    }

    private mutating func removeLeastUsed(of domain: String) {
        let rank = { (entry: Entry) in (entry.cookie.isSecure ? 1 : 0, entry.lastUse) }
        if let oldest = shelves[domain]?.min(by: { rank($0) < rank($1) }) { remove(oldest.cookie) }
    }
}

/// The name and the domain of a cookie, sorted by name and then by the reversed domain: the domains below another one are adjacent.
private struct NameBelow: Comparable {
    let name: String
    let domain: String

    static func < (left: Self, right: Self) -> Bool {
        guard left.name == right.name else { return left.name < right.name }
        return left.domain.utf8.reversed().lexicographicallyPrecedes(right.domain.utf8.reversed())
    }
}
