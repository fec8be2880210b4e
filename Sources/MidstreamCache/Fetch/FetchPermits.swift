internal import Interception

/// Lets what came of a request be stored only when nothing made it wrong since it was sent (RFC 9111 §4.4 speaks of what is stored; a
/// response that is on its way is as wrong).
final class FetchPermits: Sendable {
    /// That of one exchange.
    final class Permit: Sendable {
        private let url: String
        private let origin: String
        private let isValid = Locked(true)
        private let permits: FetchPermits

        fileprivate init(_ url: String, _ origin: String, _ permits: FetchPermits) {
            self.url = url
            self.origin = origin
            self.permits = permits
        }

        deinit { permits.forget(url, ObjectIdentifier(self)) }

        var holds: Bool { isValid.withLock { $0 } }

        fileprivate func revoke() { isValid.withLock { $0 = false } }
        fileprivate func isOf(_ origin: String) -> Bool { self.origin == origin }
    }

    private struct Weak {
        weak var permit: Permit?
    }

    /// Only those of exchanges under way.
    private let given = Locked<[String: [ObjectIdentifier: Weak]]>([:])

    /// Gives one for a URL. It is let go of with its last reference.
    func give(_ key: CacheKey) -> Permit {
        let permit = Permit(key.url, key.origin, self)
        given.withLock { $0[key.url, default: [:]][ObjectIdentifier(permit)] = Weak(permit: permit) }
        return permit
    }

    /// Takes back those of a URL.
    func revoke(_ url: String) {
        for weak in given.withLock({ $0[url] })?.values.map({ $0 }) ?? [] { weak.permit?.revoke() }
    }

    /// Takes back those of an origin; nil: all.
    func revokeAll(origin: String?) {
        let all = given.withLock { $0.values.flatMap(\.values) }
        for weak in all {
            if let permit = weak.permit, origin.map(permit.isOf) ?? true { permit.revoke() }
        }
    }

    private func forget(_ url: String, _ permit: ObjectIdentifier) {
        given.withLock { given in
            given[url]?[permit] = nil
            if given[url]?.isEmpty == true { given[url] = nil }
        }
    }
}
