#if os(Linux)
    internal import MidstreamCore

    /// A loop's connections without a transfer, those that are shared, and those that are being made.
    ///
    /// Touched only on the loop's thread.
    final class ConnectionPool {
        private final class Destination {
            let route: Route
            /// The one that was used last at the end.
            @exclusivity(unchecked) var idle: [HTTP1Connection] = []
            /// Those of HTTP/2 on which streams may begin.
            @exclusivity(unchecked) var shared: [HTTP2Connection] = []
            @exclusivity(unchecked) var dials: [Dial] = []

            init(_ route: Route) { self.route = route }
        }

        /// How many are kept without a transfer, where there are descriptors for them.
        static let mostIdle = 4_096
        /// Of how many hosts it is remembered that they don't speak HTTP/2.
        private static let mostRemembered = 4_096
        /// How long that is remembered of one that hasn't chosen it, in nanoseconds: 10 minutes. Its servers may be replaced.
        static let rememberedFor: UInt64 = 600_000_000_000

        @exclusivity(unchecked) private var destinations: [Route: Destination] = [:]
        /// The last one; most requests go where the one before went.
        @exclusivity(unchecked) private var last: Destination?
        @exclusivity(unchecked) private(set) var idle = IdleConnections()
        @exclusivity(unchecked) private(set) var dialCount = 0
        /// Until when they are taken for hosts that don't speak HTTP/2, in nanoseconds of the monotonic clock.
        private var withoutHTTP2: [Route: UInt64] = [:]
        private let mostIdle: Int

        init(mostIdle: Int = ConnectionPool.mostIdle) { self.mostIdle = mostIdle }

        private func destination(of route: Route) -> Destination {
            if let last, last.route === route { return last }
            let destination = destinations[route] ?? Destination(route)
            destinations[route] = destination
            last = destination
            return destination
        }

        private func forgetIfEmpty(_ destination: Destination) {
            guard destination.idle.isEmpty, destination.shared.isEmpty, destination.dials.isEmpty else { return }
            destinations[destination.route] = nil
            if last === destination { last = nil }
        }

        // MARK: Shared connections

        /// One of HTTP/2 on which a stream may begin; nil when a further one is to be made.
        ///
        /// - Parameters:
        ///   - limit: With so many, streams wait for those that are full.
        ///   - isNew: Whether it is to be one that hasn't served, unless there are so many.
        func shared(_ route: Route, growingTo limit: Int, isNew: Bool = false) -> HTTP2Connection? {
            let destination = destination(of: route)
            guard !destination.shared.isEmpty else { return nil }
            let isAnyFit = !isNew || destination.shared.count + destination.dials.count >= limit
            var emptiest: HTTP2Connection?
            // What turns out to be unusable leaves the list.
            for connection in destination.shared where connection.isUsable {
                if connection.hasRoom, isAnyFit || connection.isNew {
                    if connection.isIdle { idle.remove(connection) }
                    connection.isIdle = false
                    return connection
                }
                if emptiest.map({ connection.streamCount < $0.streamCount }) ?? true { emptiest = connection }
            }
            return destination.shared.count + destination.dials.count < limit ? nil : emptiest
        }

        /// Whether there are any on which streams may begin.
        func isShared(_ route: Route) -> Bool { destinations[route]?.shared.isEmpty == false }

        func add(_ connection: HTTP2Connection) {
            let destination = destination(of: connection.route)
            if let told = destination.shared.last(where: \.hasSettings)?.session?.streamLimit {
                connection.presumedLimit = max(1, min(told, connection.session?.streamLimit ?? 1))
            }
            destination.shared.append(connection)
        }

        /// No further stream begins on it.
        func retire(_ connection: HTTP2Connection) {
            let destination = destination(of: connection.route)
            destination.shared.removeAll { $0 === connection }
            if connection.isIdle { idle.remove(connection) }
            connection.isIdle = false
            forgetIfEmpty(destination)
        }

        /// No further stream begins on any of a route; those that have none are closed.
        func retireShared(_ route: Route) {
            for connection in destination(of: route).shared {
                if connection.isIdle { connection.end() } else { connection.retire() }
            }
        }

        func keep(_ connection: HTTP2Connection) {
            connection.isIdle = true
            idle.append(connection)
            if idle.count > mostIdle { closeOldest() }
        }

        /// Notes that a host doesn't speak HTTP/2.
        func rememberWithoutHTTP2(_ route: Route, until time: UInt64) {
            let before = withoutHTTP2[route]
            if before == nil, withoutHTTP2.count >= Self.mostRemembered {
                // Of the others it is found out again without a loss.
                withoutHTTP2 = withoutHTTP2.filter { $0.value == .max }
                if withoutHTTP2.count >= Self.mostRemembered { withoutHTTP2 = [:] }
            }
            withoutHTTP2[route] = max(time, before ?? 0)
        }

        func speaksOnlyHTTP1(_ route: Route, at now: UInt64) -> Bool {
            !withoutHTTP2.isEmpty && withoutHTTP2[route].map { now < $0 } ?? false
        }

        /// Whether a host has asked to be left alone with HTTP/2 for good.
        func hasLeftHTTP2(_ route: Route) -> Bool { withoutHTTP2[route] == .max }

        // MARK: Connections without a transfer

        /// Takes the one that was used last and can be used.
        func take(_ route: Route) -> HTTP1Connection? {
            let destination = destination(of: route)
            while let connection = destination.idle.popLast() {
                idle.remove(connection)
                if connection.isUsable { return connection }
                connection.channel.close()
            }
            return nil
        }

        func add(_ connection: HTTP1Connection) {
            destination(of: connection.route).idle.append(connection)
            idle.append(connection)
            if idle.count > mostIdle { closeOldest() }
        }

        /// Closes one that has no transfer.
        func close(_ connection: Connection) {
            if let shared = connection as? HTTP2Connection { return shared.end() }
            let destination = destination(of: connection.route)
            if let place = destination.idle.firstIndex(where: { $0 === connection }) {
                destination.idle.remove(at: place)
                idle.remove(connection)
            }
            connection.channel.close()
            forgetIfEmpty(destination)
        }

        /// Closes the one that hasn't been used for the longest time; false when there is none.
        @discardableResult
        func closeOldest() -> Bool {
            guard let oldest = idle.oldest else { return false }
            close(oldest)
            return true
        }

        /// Closes those that have had no transfer since a time; gives since when the next one hasn't had any.
        func closeUnused(since time: UInt64) -> UInt64? {
            while let oldest = idle.oldest, oldest.idleSince <= time { close(oldest) }
            return idle.oldest?.idleSince
        }

        /// Closes those of a route that have no transfer and aren't shared, the oldest first, until there are no more than some.
        func closeUnused(_ route: Route, but count: @autoclosure () -> Int) {
            guard let destination = destinations[route], !destination.idle.isEmpty else { return }
            for connection in destination.idle.dropLast(count()) { close(connection) }
        }

        // MARK: Counting

        /// Adds those that it knows of to what is counted: all but those of HTTP/1 that have a transfer.
        func count(in statistics: inout TransportStatistics) {
            for destination in destinations.values {
                let origin = destination.route.originOfConnections
                for _ in destination.dials { statistics.count(\.openConnections, origin) }
                for connection in destination.shared {
                    statistics.count(\.openConnections, origin)
                    if connection.isIdle { statistics.count(\.idleConnections, origin) }
                }
                for _ in destination.idle {
                    statistics.count(\.openConnections, origin)
                    statistics.count(\.idleConnections, origin)
                }
            }
        }

        // MARK: Dials

        func add(_ dial: Dial) {
            destination(of: dial.route).dials.append(dial)
            dialCount += 1
        }

        func remove(_ dial: Dial) {
            let destination = destination(of: dial.route)
            guard let place = destination.dials.firstIndex(where: { $0 === dial }) else { return }
            destination.dials.remove(at: place)
            dialCount -= 1
            forgetIfEmpty(destination)
        }

        /// Gives up the dial that has gone on without a transfer for the longest time; false when there is none.
        ///
        /// - Parameter other: Who needs its descriptor; nil: its place is needed.
        func closeOldestDial(for other: (any ChannelOwner)? = nil) -> Bool {
            // One that nobody waits for takes nothing from another one.
            if let dial = other as? Dial, dial.transfers.isEmpty { return false }
            guard dialCount > 0 else { return false }
            var oldest: Dial?
            for destination in destinations.values {
                for dial in destination.dials where dial.loneDeadline < oldest?.loneDeadline ?? .max {
                    if other == nil || !dial.isLookingUp { oldest = dial }
                }
            }
            guard let oldest else { return false }
            remove(oldest)
            // As many are made ahead of transfers as the limits allow.
            oldest.close(telling: other.map { _ in Self.gaveWay })
            return true
        }

        private static let gaveWay = HTTPError(
            .connection, "The connection gave way to one for a request, since the process may have no more descriptors.",
            phase: .notSent)

        /// A dial whose transfer has ended or got another connection.
        func freeDial(_ route: Route) -> Dial? {
            destination(of: route).dials.first { ($0.transfers.isEmpty || $0.mayBeShared) && !$0.isDistrusted && !$0.isExclusive }
        }

        /// How many stand without a transfer or are being made; `.max` when one may be shared. Closes those that can't be used.
        func spareCount(_ route: Route) -> Int {
            guard let destination = destinations[route] else { return 0 }
            if destination.shared.contains(where: \.isUsable) { return .max }
            for connection in destination.idle where !connection.isUsable { close(connection) }
            return destination.idle.count + destination.dials.count { $0.transfers.isEmpty && !$0.isDistrusted }
        }

        /// Those that are being made without a transfer.
        func spareDials(_ route: Route) -> [Dial] { destinations[route]?.dials.filter(\.transfers.isEmpty) ?? [] }

        /// Whether a transfer waits that would take any connection of a route.
        func hasWaiting(_ route: Route) -> Bool { destination(of: route).dials.contains { $0.mayYield } }

        /// Takes the transfer that has waited longest of those that would take any connection of a route.
        func takeWaiting(_ route: Route) -> WireTransfer? { destination(of: route).dials.first { $0.mayYield }?.disown() }

        /// Ends everything.
        func closeAll() {
            while closeOldest() {}
            for destination in destinations.values {
                for dial in destination.dials { dial.close() }
            }
            destinations = [:]
            last = nil
            dialCount = 0
        }
    }
#endif
