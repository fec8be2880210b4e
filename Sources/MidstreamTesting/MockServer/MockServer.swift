internal import LoopbackServer

/// An HTTP/1.1 server on a loopback socket that answers what a test tells it to, faults included.
///
/// ```swift
/// let server = try MockServer()
/// defer { server.shutdown() }
/// server.enqueue(.init(status: .serviceUnavailable, headers: ["Retry-After": "1"]), .init(body: "hello"))
/// let response = try await client.send(HTTPRequest(server.url("/greeting")))
/// #expect(try await server.takeRequest().path == "/greeting")
/// ```
///
/// It listens as soon as it is made. A request is answered by the first response in the queue; when that is empty, by the closure
/// of ``respond(_:)``; when there is none, with a 404 that says so. Connections are kept alive and served at the same time, each by
/// a thread of its own, so that the server answers even while every thread of Swift's pool is blocked. All members may be used
/// from any thread.
///
/// What the server itself refuses (a malformed request: 400, a head over 64 KiB: 431, a body over the limit: 413, another
/// protocol version: 505) is neither recorded nor takes a response from the queue. A request that expects a 100 gets one,
/// unless its response is ``Response/early``. A client that closes its sending side counts as having left while the server waits
/// for a delay, a stall or the closure.
///
/// Several can run at once. When the last reference goes, the server shuts down; its closure must therefore not hold it
/// strongly, unless ``shutdown()`` is called.
public final class MockServer: Sendable {
    /// Which loopback address a server listens on.
    public enum Family: Sendable, Hashable {
        /// 127.0.0.1.
        case ipv4
        /// ::1.
        case ipv6
    }

    /// How much a server takes in.
    public struct Limits: Sendable, Hashable {
        /// The length of a request's body, in bytes, past which it is answered with 413; 64 MiB by default.
        public var maximumBody: Int
        /// How many bytes of each body are recorded; the rest is only counted. Everything by default.
        public var keptBody: Int
        /// How many requests are recorded; past it the oldest are forgotten. 10,000 by default.
        public var keptRequests: Int

        /// Makes limits.
        public init(maximumBody: Int = 64 << 20, keptBody: Int = .max, keptRequests: Int = 10_000) {
            self.maximumBody = maximumBody
            self.keptBody = keptBody
            self.keptRequests = keptRequests
        }
    }

    /// Why a server can't do what it should.
    public struct Failure: Error, Sendable, Hashable, CustomStringConvertible {
        /// What happened, in a sentence.
        public let description: String

        init(_ description: String) { self.description = description }
    }

    private let state: ServerState

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - port: The port; 0, the default, for one that is free.
    ///   - family: The address; 127.0.0.1 by default.
    ///   - clock: What delays, throttling and dribbling wait by; the real one by default.
    ///   - limits: How much is taken in.
    /// - Throws: ``Failure`` when the port can't be had.
    public init(
        port: Int = 0, family: Family = .ipv4, clock: any Clock<Duration> = ContinuousClock(), limits: Limits = Limits()
    ) throws {
        state = try Failure.told { try ServerState(port: port, family: family, clock: clock, limits: limits) }
    }

    deinit { state.shutdown() }

    /// The port that the server listens on.
    public var port: Int { state.listener.port }

    /// The absolute URL of a path of this server.
    ///
    /// - Parameters:
    ///   - path: Path and query; a `/` is put before it when it has none.
    ///   - host: Another name for the same machine, such as `localhost`; nil: the address.
    public func url(_ path: String = "/", host: String? = nil) -> String {
        let host = host ?? (state.family == .ipv4 ? "127.0.0.1" : "[::1]")
        return "http://\(host):\(port)\(path.utf8.first == UInt8(ascii: "/") ? "" : "/")\(path)"
    }

    /// The URL of a path at a port of 127.0.0.1 where connections are refused, for as long as the process runs.
    ///
    /// - Throws: ``Failure`` when no port can be had.
    public static func refusedURL(_ path: String = "/") throws -> String {
        "http://127.0.0.1:\(try Failure.told { try Listener.refusedPort.get() })\(path.utf8.first == UInt8(ascii: "/") ? "" : "/")\(path)"
    }

    /// Adds responses to the queue. Each answers one request, in order.
    public func enqueue(_ responses: Response...) { state.enqueue(responses) }

    /// Adds responses to the queue. Each answers one request, in order.
    ///
    /// Generic, so that `enqueue(.init())` means one empty response and not an empty array of responses.
    public func enqueue(_ responses: some Sequence<Response>) { state.enqueue(Array(responses)) }

    /// Answers requests that find the queue empty. Replaces the closure of an earlier call.
    ///
    /// - Parameter handler: Called for several requests at once. An error that it throws is answered with a 500 that names it. Its
    ///   task is cancelled when the client leaves and at ``shutdown()``, which don't wait for it to end.
    public func respond(_ handler: @escaping @Sendable (RecordedRequest) async throws -> Response) {
        state.respond(handler)
    }

    /// Waits for the next request that wasn't taken yet, in the order in which they came.
    ///
    /// - Parameter limit: How long it may take to come, in real time, whatever the server's clock; a minute by default, so that a test ends
    ///   for whose request something else was sent, or nothing.
    /// - Throws: `CancellationError` when the task is cancelled; ``Failure`` when none has come in time, or the server is shut down and none
    ///   is left.
    public func takeRequest(within limit: Duration = .seconds(60)) async throws -> RecordedRequest {
        try await state.log.take(within: limit)
    }

    /// The requests so far, taken or not, in the order in which they were complete; see ``Limits/keptRequests``.
    public var requests: [RecordedRequest] { state.log.requests }

    /// How many requests there have been.
    public var requestCount: Int { state.log.count }

    /// How many connections have been accepted.
    public var connectionCount: Int { state.listener.acceptedConnections }

    /// How many connections are open now. One that the client has closed counts until the server's thread has seen it.
    public var openConnections: Int { state.listener.openConnections }

    /// Closes the connections that are open now, whatever they are doing, and goes on listening.
    public func closeConnections() { state.listener.interruptConnections() }

    /// Stops listening and closes everything at once; stalled connections and closures that never return don't hold it up. Waiting
    /// ``takeRequest(within:)`` calls end. Harmless when repeated.
    public func shutdown() { state.shutdown() }
}

extension MockServer.Failure {
    /// Throws the failures of sockets and threads as these.
    fileprivate static func told<Value>(_ work: () throws -> Value) throws -> Value {
        do { return try work() } catch let failure as ServerFailure { throw Self(failure.description) }
    }
}
