#if os(Linux)
    public import MidstreamCore
    public import MidstreamTransport
    internal import MidstreamLoop

    /// Sends requests over connections of its own: HTTP/1.1, HTTP/2 by nghttp2, TLS by OpenSSL, proxies, unix domain sockets, gzip, brotli and zstd.
    ///
    /// One thread moves the bytes of all requests (see ``TransportConfiguration/eventLoops``), unless their callers' threads do (see
    /// ``TransportConfiguration/usesCallersThreads``). It is started with the first request and ends with ``close()``, or when neither the
    /// transport nor a response that is still arriving is referenced any more. Callers are resumed on their own executors. Connections are kept
    /// and shared by all requests of the transport: over HTTP/1.1 one after the other, over HTTP/2 beside each other.
    ///
    /// A request may be sent from any task; cancelling that task, or the one that reads a streamed body, gives up the exchange.
    /// A streamed body that is released unread is given up, too. At most 256 KiB of it wait in memory for its reader,
    /// over HTTP/2 up to 1 MiB more.
    ///
    /// A request whose kept connection turns out to be dead before a byte of an answer goes out on a new one, once, if none of it was sent or
    /// if it may be repeated (RFC 9110 §9.2.2); others fail with ``HTTPError/Code/connectionLost``. What a server says not to have processed
    /// (RFC 9113 §8.7) goes out again whatever it is, three times at most.
    ///
    /// Names are looked up by the system's resolver; what it finds is kept for a minute. Of several addresses each is tried 250 ms after the
    /// one before (RFC 8305).
    public final class WireTransport: HTTPTransport {
        /// What it is made with.
        public typealias Configuration = TransportConfiguration

        /// How the transport was configured.
        public let configuration: Configuration
        private let settings: WireSettings
        private let loops: LazyLoops<WireLoop>

        /// Makes a transport. Nothing is opened before the first request.
        public convenience init(configuration: Configuration = Configuration()) { self.init(WireSettings(configuration)) }

        init(_ settings: WireSettings) {
            configuration = settings.configuration
            self.settings = settings
            loops = LazyLoops {
                try LoopGroup(settings.configuration) { try WireLoop(settings, share: $0) }
            }
        }

        /// Sends a request; see ``HTTPTransport/send(_:)``.
        ///
        /// - Throws: ``HTTPError``: ``HTTPError/Code/invalidRequest`` for what can't be sent, ``HTTPError/Code/nameResolution``,
        ///   ``HTTPError/Code/connection``, ``HTTPError/Code/tls``, ``HTTPError/Code/proxy``, ``HTTPError/Code/timeout``,
        ///   ``HTTPError/Code/connectionLost``, ``HTTPError/Code/protocolViolation``, ``HTTPError/Code/bodyUnreadable``,
        ///   ``HTTPError/Code/bodyTooLarge`` …; ``HTTPError/Code/unsupported`` for what the configuration asks for and this transport
        ///   can't do; what the request's body throws, as it is; `CancellationError`.
        public func send(_ request: HTTPRequest) async throws -> HTTPResponse { try await send(request, ExchangeOptions()) }

        /// The client certificate's; without one `.nobody`.
        public var identity: RequestIdentity { configuration.tls.identity }

        /// A thread of the transport as a preference for tasks, each thread in turn; see ``HTTPClient/executor``. Nil after ``close()``, and
        /// when the system gives no thread.
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

    extension WireTransport: ExchangeTransport {
        /// The loop keeps the attempt's timeout, which is cheaper than a task that waits for each request.
        package var keepsTime: Bool { true }

        package var remark: String? { settings.remark }

        package func send(_ request: HTTPRequest, _ options: ExchangeOptions) async throws -> HTTPResponse {
            try Task.checkCancellation()
            var arrived = try await transfer(of: request, options).response()
            return arrived.whole()
        }

        /// Not inlined, to keep async frames small.
        @inline(never)
        private func transfer(of request: HTTPRequest, _ options: ExchangeOptions) throws -> WireTransfer {
            let group = try loops.get()
            let tls = try settings.tlsContext(isSecure: request.urlText.hasSecureScheme)
            return WireTransfer(request, options, settings: settings, tls: tls, loop: group.preferred, owner: group)
        }
    }

    extension WireTransport {
        /// Has so many connections stand without a request, each thread its part of them; see
        /// ``HTTPTransport/prepare(_:connections:)``.
        public func prepare(_ url: String, connections: Int = 1) async throws {
            try Task.checkCancellation()
            guard HTTPOrigin(url) != nil else {
                throw HTTPError(.invalidRequest, "There is no http or https URL to connect to.", phase: .notSent)
            }
            if let problem = settings.problem { throw problem }
            let route = settings.route(of: url, address: nil)
            try route.check(settings)
            let tls = try settings.tlsContext(isSecure: route.isSecure)
            let loops = try loops.get().loops
            for (place, loop) in loops.enumerated() {
                let count = max(0, connections) / loops.count + (place < max(0, connections) % loops.count ? 1 : 0)
                guard count > 0 else { continue }
                try await loop.prepare(route, tls, count)
            }
        }
    }

    extension WireTransport {
        /// Makes a connection to an origin that carries no HTTP, by the transport's unix domain socket, proxy and limits; none that it keeps
        /// is used for it. Nothing is offered by ALPN.
        ///
        /// - Parameters:
        ///   - origin: An `https` one is secured.
        ///   - tls: How, for an `https` origin; nil: as the transport is configured. Its files are read anew each time.
        ///   - timeout: How long it may take, waiting for a free place among the transport's connections included.
        /// - Throws: ``HTTPError`` as for a request that wasn't sent; `CancellationError`.
        package func connect(to origin: HTTPOrigin, tls: TLSConfiguration?, timeout: Duration) async throws -> any ByteChannel {
            try Task.checkCancellation()
            let arrived = try await pipe(to: origin, tls: tls, timeout: timeout).response()
            guard let body = arrived.response.body.incoming, let writer = arrived.response.writer else {
                throw HTTPError.transportClosed
            }
            return BodyChannel(body, writer)
        }

        private func pipe(to origin: HTTPOrigin, tls: TLSConfiguration?, timeout: Duration) throws -> WireTransfer {
            let group = try loops.get()
            let context =
                origin.scheme == "https" ? try tls.map { try TLSContext($0) } ?? settings.tlsContext(isSecure: true) : nil
            return WireTransfer(
                HTTPRequest(.get, origin.description), ExchangeOptions(timeLimit: timeout, isChecked: true), settings: settings,
                tls: context, loop: group.preferred, owner: group, isPipe: true)
        }
    }

    extension WireTransport: CustomStringConvertible, CustomReflectable {
        /// The name alone.
        public var description: String { "WireTransport" }
        /// Shows the configuration without its secrets, and nothing of what is under way.
        public var customMirror: Mirror { Mirror(self, children: ["configuration": configuration]) }
    }
#endif
