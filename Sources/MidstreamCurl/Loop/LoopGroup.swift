#if Curl && os(Linux)
    internal import Interception
    internal import MidstreamCore

    /// A transport's loops. They end with the last reference to the group: the transport's, or that of a response still arriving.
    final class LoopGroup: Sendable {
        private struct OwnConnections {
            var loop: EventLoop?
            var isClosed = false
        }

        /// More threads than any machine has a use for only take memory.
        private static let mostLoops = 64

        private let options: ConnectionOptions
        private let loops: [EventLoop]
        private let turn = Locked(0)
        /// For uploads that share their connection with nothing; it runs once there is one.
        private let ownConnections = Locked(OwnConnections())

        /// How many loops there are when so many are wanted.
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

        /// The loop that is to drive a request.
        ///
        /// - Throws: ``HTTPError`` when the system gives no thread or no descriptor.
        func loop(for request: HTTPRequest) throws -> EventLoop {
            guard request.needsOwnConnection(options.configuration.httpVersions) else { return preferred }
            return try ownConnections.withLock { own in
                if let loop = own.loop { return loop }
                guard !own.isClosed else { throw HTTPError.transportClosed }
                let loop = try EventLoop(options: options, share: 1, sharesConnections: false)
                own.loop = loop
                return loop
            }
        }

        /// The loop whose thread the caller is on, else each in turn.
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

    extension HTTPRequest {
        /// A body of this size fits into the window that every stream begins with (RFC 9113 §6.9.2), so it leaves at once.
        private static let initialWindow = 65_535

        /// Whether libcurl can't be trusted to send the request over an HTTP/2 connection that others use, too.
        ///
        /// When the sending of a body ends otherwise than with the last byte of a known length, because its length is unknown or
        /// because the server answers with an error before it, libcurl 7.88 goes on with what it has received of all the
        /// connection's streams. It does so although one of them has more than its buffer holds, as it has when it waits for its
        /// reader, and overwrites or reorders what is left of that. What isn't held up by anything doesn't come to that.
        fileprivate func needsOwnConnection(_ versions: CurlConfiguration.HTTPVersions) -> Bool {
            if let bytes = body.bytes, bytes.count <= Self.initialWindow { return false }
            return switch versions {
            case .http1Only: false
            case .http2PriorKnowledge: true
            case .automatic: urlText.hasSecureScheme
            }
        }
    }
#endif
