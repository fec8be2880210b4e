internal import Interception
internal import MidstreamCore

/// The quotas of one key: the general one, and those of the partitions that the server has named.
final class QuotaShelf: ScopeState {
    private struct Partitions {
        var queues: [String: (queue: QuotaQueue, lastUse: UInt64)] = [:]
        /// The partitions named last, by the credentials of the requests.
        var named: [Int: [String]] = [:]
        var uses: UInt64 = 0

        mutating func queue(of partition: String) -> QuotaQueue? {
            guard let queue = queues[partition]?.queue else { return nil }
            uses += 1
            queues[partition]?.lastUse = uses
            return queue
        }
    }

    static let mostPartitions = 100
    static let mostCredentials = 1_000

    let key: String
    let general: QuotaQueue
    private let makePartition: @Sendable () -> TokenBucket
    /// Nil until the server names one, which most never do.
    private let partitions = Locked<Partitions?>(nil)

    /// - Parameter isShared: Whether a quota that is kept elsewhere decides as well.
    init(_ key: String, general: TokenBucket, isShared: Bool = false, partition: @escaping @Sendable () -> TokenBucket) {
        self.key = key
        self.general = QuotaQueue(general, isOneOfSeveral: isShared)
        makePartition = partition
    }

    func isIdle(at now: Int64) -> Bool {
        general.isIdle(at: now) && partitions.withLock { $0?.queues.values.allSatisfy { $0.queue.isIdle(at: now) } ?? true }
    }

    /// Those that a request is known to count in.
    func partitions(of request: HTTPRequest, _ identity: () -> WireIdentity) -> [QuotaQueue] {
        guard partitions.withLock({ $0 != nil }) else { return [] }
        let mark = request.credentialMark(identity().users)
        return partitions.withLock { partitions in
            let names = partitions?.named[mark] ?? []
            return names.compactMap { partitions?.queue(of: $0) }
        }
    }

    /// The queue of a partition that was named, made if there is none.
    func queue(of partition: String) -> QuotaQueue {
        partitions.withLock { partitions in
            if partitions == nil { general.becomeOneOfSeveral() }
            var present = partitions ?? Partitions()
            partitions = nil
            defer { partitions = present }
            if let queue = present.queue(of: partition) { return queue }
            if present.queues.count >= Self.mostPartitions,
                let oldest = present.queues.min(by: { $0.value.lastUse < $1.value.lastUse })
            {
                present.queues[oldest.key] = nil
            }
            let queue = QuotaQueue(makePartition())
            present.uses += 1
            present.queues[partition] = (queue, present.uses)
            return queue
        }
    }

    /// Notes in which partitions a request was counted.
    func note(_ names: [String], for request: HTTPRequest, _ identity: WireIdentity) {
        let mark = request.credentialMark(identity.users)
        partitions.withLock { partitions in
            // The next response names it again.
            if partitions?.named.count ?? 0 >= Self.mostCredentials { partitions?.named.removeAll(keepingCapacity: true) }
            partitions?.named[mark] = names
        }
    }
}

extension HTTPRequest {
    /// A hash of the request's credentials. Cookies count only where there are no others, since parts of them may change with each response.
    fileprivate func credentialMark(_ users: [String]) -> Int {
        var credentials: [(name: HTTPHeaders.Name, value: String)] = headers.filter { headers.isSensitive($0.name) }
        if credentials.contains(where: { $0.name != .cookie }) { credentials.removeAll { $0.name == .cookie } }
        var hasher = Hasher()
        hasher.combine(users)
        for item in secretItems { hasher.combine(item) }
        for (name, value) in credentials {
            hasher.combine(name)
            hasher.combine(value)
        }
        return hasher.finalize()
    }
}
