#if Curl && os(Linux)
    internal import Interception
    internal import MidstreamCore

    /// A transport's loops. They end with the last reference to the group: the transport's, or that of a response still arriving.
    final class LoopGroup: Sendable {
        private struct OwnConnections {
            var loop: EventLoop?
            var isClosed = false
        }

        private static let mostLoops = 64

        private let options: ConnectionOptions
        private let loops: [EventLoop]
        private let turn = Locked(0)
        /// For uploads that share their connection with nothing; started with the first of them.
        private let ownConnections = Locked(OwnConnections())

        static func count(_ wanted: Int) -> Int { min(max(1, wanted), mostLoops) }

        /// - Throws: ``HTTPError`` when the system gives no thread or no descriptor, or an older libcurl than works.
        init(_ configuration: CurlConfiguration) throws {
            if let problem = CurlLibrary.problem { throw problem }
            options = ConnectionOptions(configuration)
            let count = Self.count(configuration.eventLoops)
            var loops: [EventLoop] = []
            do {
                for _ in 0..<count { loops.append(try EventLoop(options: options, share: count)) }
            } catch {
                for loop in loops { loop.close() }
                throw error
            }
            self.loops = loops
        }

        deinit { close() }

        func close() {
            for loop in loops { loop.close() }
            ownConnections.withLock { own in
                own.isClosed = true
                own.loop?.close()
            }
        }

        /// The loop for a request.
        ///
        /// - Throws: ``HTTPError`` when the system gives no thread or no descriptor.
        func loop(for request: HTTPRequest) throws -> EventLoop {
            guard DamagingUploads.include(request.body), mayUseHTTP2(request) else { return preferred }
            return try ownConnections.withLock { own in
                if let loop = own.loop { return loop }
                guard !own.isClosed else { throw HTTPError.transportClosed }
                let loop = try EventLoop(options: options, share: 1, sharesConnections: false)
                own.loop = loop
                return loop
            }
        }

        private func mayUseHTTP2(_ request: HTTPRequest) -> Bool {
            switch options.configuration.httpVersions {
            case .http1Only: false
            case .http2PriorKnowledge: true
            case .automatic: request.urlText.hasSecureScheme
            }
        }

        /// The loop that the caller's thread drives, else each in turn.
        private var preferred: EventLoop {
            if loops.count == 1 { return loops[0] }
            return loops.first { $0.isCurrent } ?? next
        }

        /// Each loop in turn.
        var next: EventLoop {
            let turn = turn.withLock { turn in
                turn = (turn + 1) % loops.count
                return turn
            }
            return loops[turn]
        }
    }
#endif
