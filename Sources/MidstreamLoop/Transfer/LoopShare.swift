#if os(Linux)
    import Glibc
    package import MidstreamTransport

    /// A loop's part of what its transport is allowed.
    package struct LoopShare: Sendable {
        /// All of it.
        package static let whole = LoopShare(place: 0, count: 1, counts: nil)

        let place: Int
        let count: Int
        /// Where the loops see what waits on the others; nil where there are none.
        let counts: WaitingCounts?

        /// How many loops there are, 64 at most: no more than connections, each of which is a loop's.
        package static func count(_ configuration: TransportConfiguration) -> Int {
            let limits = [configuration.maximumConnectionsPerHost, configuration.maximumConnections].compactMap { $0 }
            return min(64, max(1, ([configuration.eventLoops] + limits).min() ?? 1))
        }

        /// Its part of a number of connections; the parts of all loops add up to it.
        package func of(_ limit: Int) -> Int { max(1, limit / count + (place < limit % count ? 1 : 0)) }

        /// How many connections may be kept that nobody uses: half of the process's descriptors are for what is needed. A loop beside the
        /// others isn't among those that divide it.
        package var ofDescriptors: Int {
            var limit = rlimit()
            guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return .max }
            return of(Int(clamping: limit.rlim_cur / 2))
        }
    }
#endif
