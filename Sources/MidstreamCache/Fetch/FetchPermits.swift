internal import Interception

/// Lets what came of a request be stored only when nothing made it wrong since it was sent (RFC 9111 §4.4 speaks of what is stored; a
/// response that is on its way is as wrong).
final class FetchPermits: Sendable {
    /// That of one exchange.
    final class Permit: Sendable {
        private let key: CacheKey
        private let mark: Mark
        private let permits: FetchPermits

        fileprivate init(_ key: CacheKey, _ mark: Mark, _ permits: FetchPermits) {
            self.key = key
            self.mark = mark
            self.permits = permits
        }

        deinit { permits.forget(key, mark) }

        var holds: Bool { mark.isValid.withLock { $0 } }
    }

    /// What is known of a permit when nobody may know how long it lives.
    fileprivate final class Mark: Sendable {
        let isValid = Locked(true)
    }

    /// Only those of exchanges under way.
    private let given = Locked<[String: [Mark]]>([:])

    /// Gives one for a URL. It is let go of with its last reference.
    func give(_ key: CacheKey) -> Permit {
        let mark = Mark()
        given.withLock { $0[key.url, default: []].append(mark) }
        return Permit(key, mark, self)
    }

    /// Takes back those of a URL.
    func revoke(_ url: String) {
        for mark in given.withLock({ $0[url] }) ?? [] { mark.isValid.withLock { $0 = false } }
    }

    /// Takes back those of an origin; nil: all.
    func revokeAll(origin: String?) {
        for (url, marks) in given.withLock({ $0 }) where origin == nil || CacheKey(url: url).origin == origin {
            for mark in marks { mark.isValid.withLock { $0 = false } }
        }
    }

    private func forget(_ key: CacheKey, _ mark: Mark) {
        given.withLock { given in
            // Most URLs have one.
            if given[key.url]?.count == 1 {
                given[key.url] = nil
            } else {
                given[key.url]?.removeAll { $0 === mark }
            }
        }
    }
}
