#if os(Linux)
    internal import Interception
    internal import MidstreamCore
    internal import MidstreamTransport
    internal import MidstreamLoop

    /// The loops of a ``CurlTransport``: those that all requests share, and one for uploads that share their connection with nothing.
    final class CurlLoops: TransportLoops {
        private struct OwnConnections {
            var loop: CurlLoop?
            var isClosed = false
        }

        private let options: ConnectionOptions
        private let shared: LoopGroup<CurlLoop>
        /// Started with the first of them.
        private let ownConnections = Locked(OwnConnections())

        /// - Throws: ``HTTPError`` when the system gives no thread or no descriptor, or an older libcurl than works.
        init(_ configuration: TransportConfiguration) throws {
            if let problem = CurlLibrary.problem { throw problem }
            let options = ConnectionOptions(configuration)
            self.options = options
            shared = try LoopGroup(configuration) { try CurlLoop(options: options, share: $0) }
        }

        deinit { close() }

        func close() {
            shared.close()
            ownConnections.withLock { own in
                own.isClosed = true
                own.loop?.close()
            }
        }

        func waitForEnd() {
            shared.waitForEnd()
            ownConnections.withLock { $0.loop }?.waitForEnd()
        }

        /// What all of them have.
        var statistics: TransportStatistics {
            get async {
                let own = ownConnections.withLock { $0.loop }
                return await shared.statistics + (own?.statistics ?? TransportStatistics())
            }
        }

        /// Each of the shared loops in turn.
        var next: CurlLoop { shared.next }

        /// The loop for a request.
        ///
        /// - Throws: ``HTTPError`` when the system gives no thread or no descriptor.
        func loop(for request: HTTPRequest) throws -> CurlLoop {
            guard DamagingUploads.include(request.body), mayShareConnection(request) else { return shared.preferred }
            return try ownConnections.withLock { own in
                if let loop = own.loop { return loop }
                guard !own.isClosed else { throw HTTPError.transportClosed }
                let loop = try CurlLoop(options: options, share: .whole, sharesConnections: false)
                own.loop = loop
                return loop
            }
        }

        private func mayShareConnection(_ request: HTTPRequest) -> Bool {
            switch options.http3.versions {
            case .http1Only: false
            case .http2PriorKnowledge: true
            case .automatic, .http3, .http3Only: request.urlText.hasSecureScheme
            }
        }
    }
#endif
