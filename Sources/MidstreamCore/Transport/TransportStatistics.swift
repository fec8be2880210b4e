/// A transport that tells of its connections, and of the requests that it has; `CurlTransport` and `WireTransport` do.
///
/// ```swift
/// if let transport = client.transport as? any MeasuredTransport {
///     let statistics = await transport.statistics
///     print(statistics.total.waitingRequests)
/// }
/// ```
public protocol MeasuredTransport: HTTPTransport {
    /// How many connections and requests there are. They are counted when this is asked, where they are, and not before: requests pay nothing
    /// for it, and the answer takes about a microsecond of the transport's thread for each connection and each request. Nothing is
    /// started or opened; all is zero before the first request, and once the transport is closed.
    ///
    /// Several threads are asked one after the other, so that their numbers aren't of the same moment. May be asked from any task; cancelling
    /// it has no effect.
    var statistics: TransportStatistics { get async }
}

/// How many connections a transport has, and how many requests, at one moment.
public struct TransportStatistics: Sendable, Hashable {
    /// What is counted, of one origin or in all.
    public struct Counts: Sendable, Hashable {
        /// Connections that stand or are being made, with a request or without.
        public var openConnections: Int
        /// Those of them that stand without a request.
        public var idleConnections: Int
        /// Requests that have a connection, or one that is being made; over HTTP/2 several may have the same.
        public var activeRequests: Int
        /// Requests that wait because as many connections as may stand have one: to their host or in all.
        public var waitingRequests: Int

        /// Zero of each by default.
        public init(openConnections: Int = 0, idleConnections: Int = 0, activeRequests: Int = 0, waitingRequests: Int = 0) {
            self.openConnections = openConnections
            self.idleConnections = idleConnections
            self.activeRequests = activeRequests
            self.waitingRequests = waitingRequests
        }

        /// The sums of both.
        public static func + (first: Counts, second: Counts) -> Counts {
            Counts(
                openConnections: first.openConnections + second.openConnections,
                idleConnections: first.idleConnections + second.idleConnections,
                activeRequests: first.activeRequests + second.activeRequests,
                waitingRequests: first.waitingRequests + second.waitingRequests)
        }
    }

    /// All of the transport's.
    public var total: Counts
    /// By the origin that the request's URL has, or that the connection was made for, such as `https://api.example.com`, or
    /// `http://127.0.0.1:8080` where the port isn't the scheme's own (RFC 6454 §6.2). One without any connection and request isn't there.
    /// A connection that isn't known to be an origin's is counted in ``total`` alone: one to a proxy that forwards requests (RFC 9112 §3.2.2),
    /// and with libcurl one that is being made, or goes to a unix domain socket, of which it isn't known whether it is idle.
    public var origins: [String: Counts]

    /// Nothing by default.
    public init(total: Counts = Counts(), origins: [String: Counts] = [:]) {
        self.total = total
        self.origins = origins
    }

    /// The sums of both.
    public static func + (first: TransportStatistics, second: TransportStatistics) -> TransportStatistics {
        TransportStatistics(total: first.total + second.total, origins: first.origins.merging(second.origins) { $0 + $1 })
    }

    /// Counts one more.
    ///
    /// - Parameter origin: Whose it is; nil: none's.
    package mutating func count(_ kind: WritableKeyPath<Counts, Int>, _ origin: String?) {
        total[keyPath: kind] += 1
        if let origin { origins[origin, default: Counts()][keyPath: kind] += 1 }
    }
}
