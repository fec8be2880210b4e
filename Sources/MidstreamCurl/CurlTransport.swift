#if os(Linux)
    public import MidstreamCore
    public import MidstreamTransport
    internal import MidstreamLoop

    /// The settings of a ``CurlTransport``.
    public typealias CurlConfiguration = TransportConfiguration

    /// Sends requests by libcurl: HTTP/1.1, HTTP/2 and, where libcurl was built with it, HTTP/3, TLS, proxies, unix domain sockets, gzip, brotli and zstd.
    ///
    /// One thread moves the bytes of all requests (see ``TransportConfiguration/eventLoops``), unless their callers' threads do (see
    /// ``TransportConfiguration/usesCallersThreads``). It is started with the first request and ends with ``close()``, or when neither the
    /// transport nor a response that is still arriving is referenced any more. Callers are resumed on their own executors. Connections are kept
    /// and shared by all requests of the transport.
    ///
    /// Over HTTP/2 and HTTP/3, requests whose body is streamed, a file, or larger than 64 KiB share no connection at a time, since libcurl may
    /// then damage the responses beside them. They have a thread and connections besides the others'.
    ///
    /// A request may be sent from any task; cancelling that task, or the one that reads a streamed body, gives up the exchange.
    /// A streamed body that is released unread is given up, too. At most 256 KiB of it wait in memory for its reader.
    ///
    /// libcurl sends a request again by itself when a kept connection turns out to be dead before an answer; this is stopped for
    /// requests that may not be repeated (RFC 9110 §9.2.2), which then fail with ``HTTPError/Code/connectionLost``.
    public final class CurlTransport: HTTPTransport {
        /// What it is made with.
        public typealias Configuration = TransportConfiguration

        /// How the transport was configured.
        public let configuration: Configuration
        private let loops: LazyLoops<CurlLoop>

        /// Makes a transport. Nothing is opened before the first request.
        public init(configuration: Configuration = Configuration()) {
            self.configuration = configuration
            loops = LazyLoops {
                if let problem = CurlLibrary.problem { throw problem }
                let options = try ConnectionOptions(configuration)
                return try LoopGroup(configuration) { try CurlLoop(options: options, share: $0) }
            }
        }

        /// Sends a request; see ``HTTPTransport/send(_:)``.
        ///
        /// - Throws: ``HTTPError``: ``HTTPError/Code/invalidRequest`` for what can't be sent, ``HTTPError/Code/nameResolution``,
        ///   ``HTTPError/Code/connection``, ``HTTPError/Code/tls``, ``HTTPError/Code/proxy``, ``HTTPError/Code/timeout``,
        ///   ``HTTPError/Code/connectionLost``, ``HTTPError/Code/protocolViolation``, ``HTTPError/Code/bodyUnreadable``,
        ///   ``HTTPError/Code/bodyTooLarge`` … with libcurl's own words in the message; ``HTTPError/Code/unsupported`` when the
        ///   libcurl that is loaded is older than 7.87.0; what the request's body throws, as it is;
        ///   `CancellationError`.
        public func send(_ request: HTTPRequest) async throws -> HTTPResponse { try await send(request, ExchangeOptions()) }

        /// The client certificate's; without one `.nobody`.
        public var identity: RequestIdentity { configuration.tls.identity }

        /// A thread of the transport as a preference for tasks, each thread in turn; see ``HTTPClient/executor``. Nil after ``close()``, and
        /// when the system gives no thread or the authorities' file can't be read.
        public var executor: (any TaskExecutor)? { try? loops.get().next }

        /// How many connections and requests there are; see ``HTTPTransport/statistics``.
        public var statistics: TransportStatistics {
            get async { await loops.statistics }
        }

        /// Ends the threads and closes the connections. Requests that are under way, and all later ones, fail with
        /// ``HTTPError/Code/connection``. Returns when the threads have ended, but for a call on the thread of a transport, which doesn't
        /// wait. Harmless when repeated.
        public func close() { loops.close() }
    }

    extension CurlTransport: ExchangeTransport {
        /// The loop keeps the attempt's timeout, which is cheaper than a task that waits for each request.
        package var keepsTime: Bool { true }

        package var remark: String? { HTTP3Choice(configuration).remark }

        package func send(_ request: HTTPRequest, _ options: ExchangeOptions) async throws -> HTTPResponse {
            try Task.checkCancellation()
            var arrived = try await transfer(of: request, options).response()
            return arrived.whole()
        }

        /// Not inlined, to keep async frames small.
        @inline(never)
        private func transfer(of request: HTTPRequest, _ options: ExchangeOptions) throws -> CurlTransfer {
            try request.refuseUpgrade(options, by: "CurlTransport")
            let group = try loops.get()
            return CurlTransfer(request, options, loop: try group.loop(for: request), group: group)
        }
    }

    extension CurlTransport: CustomStringConvertible, CustomReflectable {
        /// The name alone.
        public var description: String { "CurlTransport" }
        /// Shows the configuration without its secrets, and nothing of what is under way.
        public var customMirror: Mirror { Mirror(self, children: ["configuration": configuration]) }
    }
#endif
