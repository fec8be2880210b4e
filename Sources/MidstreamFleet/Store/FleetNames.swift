internal import MidstreamCacheStore

/// The names of everything that a fleet keeps in its store.
struct FleetNames: Sendable {
    /// Of all keys. The braces keep them in one slot of a cluster.
    let prefix: String
    /// By each secret of the key, that which seals first.
    private let hashings: [Fingerprint]
    private var hashing: Fingerprint { hashings[0] }

    init(fleet: String, key: FleetKey) {
        prefix = "midstream:{\(Self.hash(fleet))}:"
        hashings = key.salts(of: fleet).map(Fingerprint.init(salt:))
    }

    var members: String { prefix + "members:v1" }
    /// Which process the store was that members last connected to.
    var process: String { prefix + "process:v1" }
    /// Where members hear of tokens and removals.
    var news: String { prefix + "news:v1" }

    /// Not hashed with the key: members must agree about tokens while the key is replaced.
    func token(_ name: String) -> String { tokens + "\(Self.hash(name)):v1" }
    func isToken(_ name: String) -> Bool { name.hasPrefix(tokens) }
    /// The token of which members are told that it isn't there; nil: they are told something else.
    func lostToken(_ message: String) -> String? {
        guard isToken(message), message.hasSuffix(":lost") else { return nil }
        return String(message.dropLast(":lost".count))
    }
    private var tokens: String { prefix + "t:" }
    func lock(ofToken token: String) -> String { token + ":lock" }
    func quota(_ name: String, _ key: String) -> String { prefix + "q:\(Self.hash("\(name.utf8.count) \(name)\(key)")):v1" }

    /// Prefixes of what near caches have to hear of, beside removals: stamps change without those, too.
    var watched: [String] { [prefix + "c:"] }
    var everything: String { prefix + "a:v1" }
    func origin(_ origin: String) -> String { self.origin(origin, hashing) }
    func url(_ url: String) -> String { self.url(url, hashing) }
    /// What they are removed by: members whose key has its secrets in the other order have other names for them.
    func origins(_ origin: String) -> [String] { hashings.map { self.origin(origin, $0) } }
    func urls(_ url: String) -> [String] { hashings.map { self.url(url, $0) } }
    private func origin(_ origin: String, _ hashing: Fingerprint) -> String {
        prefix + "o:\(hashing.text(of: [origin]).prefix(32)):v1"
    }
    private func url(_ url: String, _ hashing: Fingerprint) -> String {
        prefix + "u:\(hashing.text(of: [url]).prefix(32)):v1"
    }
    /// Whether a name is that of what is removed.
    func isStamp(_ name: String) -> Bool { ["a:", "o:", "u:"].contains { name.hasPrefix(prefix + $0) } }
    func piece(_ number: UInt64, _ place: Int64) -> String { prefix + "b:\(String(number, radix: 16)):\(place):v1" }

    func variant(_ values: [String]) -> String { String(hashing.text(of: values).prefix(32)) }

    func responses(_ key: CacheKey) -> ResponseKeys {
        ResponseKeys(
            responses: prefix + "c:\(hashing.text(of: [key.url, key.partition]).prefix(32)):v1",
            stamps: [everything, origin(key.origin), url(key.url)])
    }

    /// A count of removals that hears of others' by these names.
    func newRemovals() -> CacheRemovals { CacheRemovals { (origin($0.origin), url($0.url)) } }

    private static func hash(_ text: String) -> String { String(Fingerprint(salt: []).text(of: [text]).prefix(32)) }
}
