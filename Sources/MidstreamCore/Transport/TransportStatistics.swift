/// How many connections a transport has, and how many requests, at one moment; see ``HTTPTransport/statistics``.
public struct TransportStatistics: Sendable, Hashable {
    /// Connections that stand or are being made, with a request or without.
    public var openConnections: Int
    /// Those of them that stand without a request.
    public var idleConnections: Int
    /// Requests that have a connection, or one that is being made; over HTTP/2 several may have the same.
    public var activeRequests: Int
    /// Requests that wait because as many connections as may stand have one: to their host or in all.
    public var waitingRequests: Int
    /// The same by the origin that the request's URL has, or that the connection was made for, such as `https://api.example.com`, or
    /// `http://127.0.0.1:8080` where the port isn't the scheme's own (RFC 6454 §6.2). One without any connection and request isn't there.
    /// A connection that isn't known to be an origin's is counted in all alone: one to a proxy that forwards requests (RFC 9112 §3.2.2),
    /// and with libcurl one that is being made, or goes to a unix domain socket, of which it isn't known whether it is idle.
    public var origins: [String: TransportStatistics]

    /// Zero of each by default.
    public init(
        openConnections: Int = 0, idleConnections: Int = 0, activeRequests: Int = 0, waitingRequests: Int = 0,
        origins: [String: TransportStatistics] = [:]
    ) {
        self.openConnections = openConnections
        self.idleConnections = idleConnections
        self.activeRequests = activeRequests
        self.waitingRequests = waitingRequests
        self.origins = origins
    }

    /// The sums of both.
    public static func + (first: TransportStatistics, second: TransportStatistics) -> TransportStatistics {
        TransportStatistics(
            openConnections: first.openConnections + second.openConnections,
            idleConnections: first.idleConnections + second.idleConnections,
            activeRequests: first.activeRequests + second.activeRequests,
            waitingRequests: first.waitingRequests + second.waitingRequests,
            origins: first.origins.merging(second.origins) { $0 + $1 })
    }

    /// Counts one more.
    ///
    /// - Parameter origin: Whose it is; nil: none's.
    package mutating func count(_ kind: WritableKeyPath<TransportStatistics, Int>, _ origin: String?) {
        self[keyPath: kind] += 1
        if let origin { origins[origin, default: TransportStatistics()][keyPath: kind] += 1 }
    }
}
