public import MidstreamCore

/// A server of a simulation: workers, each of which works on one request at a time, and a queue before them.
///
/// A request whose client has gone is worked on all the same, as most servers do.
public struct ServerModel: Sendable {
    /// Where requests wait for a worker.
    public struct Queue: Sendable, Hashable {
        let places: Int

        /// All wait.
        public static let unbounded = Queue(places: .max)
        /// So many wait; the others are answered with 503 at once.
        public static func bounded(_ places: Int) -> Queue { Queue(places: max(0, places)) }
    }

    /// How many requests each tenant may make; the others are answered with 429, `Retry-After` and `RateLimit` fields.
    public struct Quota: Sendable {
        let rate: Double
        let burst: Double
        let tenant: @Sendable (HTTPRequest) -> String

        /// Makes a quota.
        ///
        /// - Parameters:
        ///   - rate: So many a second.
        ///   - burst: So many at once.
        ///   - tenant: Whose quota a request is counted against; all are one tenant by default.
        public init(
            rate: Double, burst: Double, tenant: @escaping @Sendable (HTTPRequest) -> String = { _ in "" }
        ) {
            self.rate = max(1e-9, rate)
            self.burst = max(1, burst)
            self.tenant = tenant
        }
    }

    let workers: Int
    let service: ServiceTime
    let queue: Queue
    let replicas: Int
    let quota: Quota?
    let respond: (@Sendable (HTTPRequest) -> HTTPResponse)?

    /// Makes a model.
    ///
    /// - Parameters:
    ///   - workers: How many requests each replica works on at a time.
    ///   - service: How long it works on one.
    ///   - queue: Where the others wait; unbounded by default.
    ///   - replicas: How many of these there are, each with a queue of its own; a request goes to any of them. 1 by default.
    ///   - quota: How many requests are let in; all by default.
    ///   - respond: What is answered when the work is done; an empty 200 by default.
    public init(
        workers: Int, service: ServiceTime, queue: Queue = .unbounded, replicas: Int = 1, quota: Quota? = nil,
        respond: (@Sendable (HTTPRequest) -> HTTPResponse)? = nil
    ) {
        self.workers = max(1, workers)
        self.service = service
        self.queue = queue
        self.replicas = max(1, replicas)
        self.quota = quota
        self.respond = respond
    }
}
