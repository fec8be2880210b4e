internal import LoopbackServer
public import MidstreamCore

/// Serves a page on this machine that shows the calls of clients as they end: that of ``CallReport``, and live.
///
/// ```swift
/// let inspector = try InspectorObserver()
/// let client = HTTPClient(configuration: .init(observers: [inspector]))
/// print(inspector.url)
/// ```
///
/// Nothing is opened: whoever has the ``url`` opens it in a browser. The server listens on 127.0.0.1 alone, and answers nobody who doesn't know the path
/// of 128 random bits, nor a page of another origin whose name was made to point here. Secrets are withheld as everywhere. It is for
/// development: who may read the program's output may read the calls.
///
/// A call costs what it takes to keep its record; pages are made by a thread of each reader, of which there are 16 at most. A reader that doesn't take what
/// it is sent within ten seconds is dropped. The server ends with ``close()``, or when the last reference to the observer is released; pages
/// that are open keep what they show.
public final class InspectorObserver: CallObserver {
    /// Why there is no server.
    public struct Failure: Error, Sendable, Hashable, CustomStringConvertible {
        /// What happened, in a sentence.
        public let description: String
    }

    private let calls: RecentCalls
    let server: InspectorServer
    /// How many bytes of each body the page shows, as it was made with.
    public let keepsBodies: Int

    /// Begins to listen.
    ///
    /// - Parameters:
    ///   - port: The port; 0, the default, for one that is free.
    ///   - count: How many calls are kept and shown; 500 by default. The oldest go first.
    ///   - bodies: How many bytes of each body are kept and shown; none by default.
    ///   - title: The page's title.
    ///   - redaction: What is withheld beside what always is; nil: what each client's configuration says.
    /// - Throws: ``Failure`` when the port can't be had.
    public convenience init(
        port: Int = 0, keeping count: Int = 500, bodies: Int = 0, title: String = "Calls", redaction: Redaction? = nil
    ) throws {
        try self.init(
            port: port, keeping: count, bodies: bodies, title: title, redaction: redaction, patience: .seconds(10))
    }

    /// - Parameter patience: How long a client may take for its request, and for what it is sent.
    init(
        port: Int = 0, keeping count: Int = 500, bodies: Int = 0, title: String = "Calls", redaction: Redaction? = nil,
        patience: Duration
    ) throws {
        calls = RecentCalls(keeping: count, title: title, redaction: redaction)
        keepsBodies = max(0, bodies)
        do {
            server = try InspectorServer(port: port, calls: calls, patience: patience)
        } catch let failure as ServerFailure {
            throw Failure(description: failure.description)
        }
    }

    deinit { server.close() }

    /// Where the page is, such as `http://127.0.0.1:51621/6f1c…/`: as secret as the calls.
    public var url: String { server.url }

    /// Keeps it for the page. Of a streamed response it shows what was known at the head.
    public func endedCall(_ call: CallRecord) { calls.add(call) }

    /// Stops listening and ends all connections. Harmless when repeated.
    public func close() { server.close() }
}
