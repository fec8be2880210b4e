public import Foundation
internal import Interception

/// Keeps which hosts are spoken to by TLS alone (RFC 6797 §8).
///
/// It may be used by any number of tasks and clients at once. It holds 1,000 hosts. Of more, one goes of whose domain there are the most, and of
/// these the one that expires first: who has a domain, and any number of names below it, displaces few hosts of others. Hosts that never
/// expire stay; where there are a thousand of them, nothing else is kept.
public final class StrictTransportStore: Sendable {
    /// How many hosts are kept.
    public static let capacity = 1_000

    private let kept: Locked<[String: StrictTransportHost]>
    private let now: @Sendable () -> Date

    /// Makes a store.
    ///
    /// - Parameters:
    ///   - hosts: What is known beforehand, such as the ``hosts`` of another store; none by default. Expired ones are left out, and so are
    ///     addresses and `localhost`.
    ///   - now: The time by which hosts expire; the system's by default.
    public init(_ hosts: [StrictTransportHost] = [], now: @escaping @Sendable () -> Date = { Date() }) {
        self.now = now
        kept = Locked([:])
        for host in hosts { set(host) }
    }

    /// The hosts that haven't expired, by name: to be kept until the next start. They tell where their user has been.
    public var hosts: [StrictTransportHost] {
        let now = now()
        return kept.withLock { $0.values.filter { $0.expires > now } }.sorted { $0.name < $1.name }
    }

    /// Keeps a host, in place of what was known of it.
    public func set(_ host: StrictTransportHost) {
        let now = now()
        guard StrictTransportHost.isName(host.name) else { return }
        kept.withLock { kept in
            guard host.expires > now else {
                kept[host.name] = nil
                return
            }
            kept[host.name] = host
            guard kept.count > Self.capacity else { return }
            kept = kept.filter { $0.value.expires > now }
            if kept.count > Self.capacity { kept[Self.dispensable(in: kept, beside: host)] = nil }
        }
    }

    /// The name of the host that a new one displaces; the new one's own where the others never expire.
    private static func dispensable(in kept: [String: StrictTransportHost], beside new: StrictTransportHost) -> String {
        var crowd = kept.values.filter { $0.expires < .distantFuture }
        // Of many names below co.uk most are others' domains, and so on.
        for labels in 2...4 {
            let domains = Dictionary(grouping: crowd) { $0.domain(of: labels) }
            let most = domains.values.map(\.count).max()
            crowd = domains.values.filter { $0.count == most }.flatMap { $0 }
        }
        return crowd.filter { $0.name != new.name }.min(by: { $0.expires < $1.expires })?.name ?? new.name
    }

    /// Forgets a host; one above it may still include it.
    public func remove(_ name: String) { kept.withLock { $0[StrictTransportHost.normalized(name)] = nil } }

    /// Whether a host is to be spoken to by TLS alone: it is kept itself, or one above it that includes it (RFC 6797 §8.2).
    public func includes(_ host: String) -> Bool {
        let name = StrictTransportHost.normalized(host)
        return kept.withLock { kept in
            guard !kept.isEmpty, StrictTransportHost.isName(name) else { return false }
            let now = now()
            var rest = name[...]
            while true {
                if let host = kept[String(rest)], host.expires > now, host.includesSubdomains || rest.count == name.count {
                    return true
                }
                guard let dot = rest.firstIndex(of: ".") else { return false }
                rest = rest[rest.index(after: dot)...]
            }
        }
    }

    /// Takes what a server has said by TLS; a lifetime of zero forgets its host. False when that has no name, or is `localhost`.
    @discardableResult
    func take(_ policy: StrictTransportPolicy, from host: String) -> Bool {
        let name = StrictTransportHost.normalized(host)
        guard StrictTransportHost.isName(name) else { return false }
        let expires = now().addingTimeInterval(TimeInterval(policy.maximumAge))
        set(StrictTransportHost(name, expires: expires, includesSubdomains: policy.includesSubdomains))
        return true
    }
}

extension StrictTransportStore: CustomStringConvertible, CustomReflectable {
    /// How many hosts there are.
    public var description: String { "\(kept.withLock { $0.count }) hosts" }
    /// Shows what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["hosts": description]) }
}
