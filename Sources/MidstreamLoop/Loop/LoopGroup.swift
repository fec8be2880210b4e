#if os(Linux)
    import Glibc
    internal import Interception
    package import MidstreamCore
    package import MidstreamTransport

    /// A transport's loops. They end with the last reference to the group: the transport's, or that of a response still arriving.
    package final class LoopGroup<Loop: EventLoop>: Sendable {
        package let loops: [Loop]
        /// One more, for what the others mustn't have.
        private let extra = Locked((loop: Loop?.none, isClosed: false))
        private let turn = Locked(0)

        /// - Parameter make: Makes a loop and starts its thread, given its part of the limits.
        /// - Throws: What `make` throws; the loops made before are closed then.
        package init(_ configuration: TransportConfiguration, _ make: (LoopShare) throws -> Loop) throws {
            let count = LoopShare.count(configuration)
            var loops: [Loop] = []
            do {
                for place in 0..<count { loops.append(try make(LoopShare(place: place, count: count))) }
            } catch {
                for loop in loops { loop.close() }
                throw error
            }
            self.loops = loops
        }

        deinit { close() }

        private var all: [Loop] { loops + (extra.withLock { $0.loop }.map { [$0] } ?? []) }

        /// Has the threads end; harmless when repeated.
        package func close() {
            extra.withLock { $0.isClosed = true }
            for loop in all { loop.close() }
        }

        /// Blocks until they have; see ``EventLoop/waitForEnd()``.
        package func waitForEnd() {
            for loop in all { loop.waitForEnd() }
        }

        /// The loop beside the others, started when it is first asked for.
        ///
        /// - Throws: What `make` throws; ``HTTPError`` after ``close()``.
        package func beside(_ make: () throws -> Loop) throws -> Loop {
            try extra.withLock { extra in
                if let loop = extra.loop { return loop }
                guard !extra.isClosed else { throw HTTPError.transportClosed }
                let loop = try make()
                extra.loop = loop
                return loop
            }
        }

        /// The loop that the caller's thread drives unless requests wait there, else the one with the fewest: limits are divided among the loops,
        /// and a request isn't to wait for long ones of its loop while another loop has room. Among equals the first: requests that come one
        /// after the other find the connection of the one before.
        package var preferred: Loop {
            if loops.count == 1 { return loops[0] }
            if let own = loops.first(where: \.isCurrent), own.admission.waitingCount == 0 { return own }
            var emptiest = loops[0]
            for loop in loops.dropFirst() where loop.load < emptiest.load { emptiest = loop }
            emptiest.expectOneMore()
            return emptiest
        }

        /// What all of them have, asked one after the other.
        package var statistics: TransportStatistics {
            get async {
                var sum = TransportStatistics()
                for loop in all { sum = await sum + loop.statistics }
                return sum
            }
        }

        /// Each loop in turn.
        package var next: Loop {
            turn.withLock { turn in
                turn = (turn + 1) % loops.count
                return loops[turn]
            }
        }
    }

    /// A loop's part of what its transport is allowed.
    package struct LoopShare: Sendable {
        /// All of it.
        package static let whole = LoopShare(place: 0, count: 1)

        let place: Int
        let count: Int

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
