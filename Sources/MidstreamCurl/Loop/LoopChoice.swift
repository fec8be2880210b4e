#if os(Linux)
    internal import MidstreamCore
    internal import MidstreamTransport
    internal import MidstreamLoop

    extension LoopGroup where Loop == CurlLoop {
        /// The loop for a request: one that all share, or the one beside them for uploads that share their connection with nothing.
        ///
        /// - Throws: ``HTTPError`` when the system gives no thread or no descriptor.
        func loop(for request: HTTPRequest) throws -> CurlLoop {
            // Not taken out before, which costs each request a retain of all its parts.
            guard DamagingUploads.include(request.body), loops[0].options.mayShareConnection(request) else { return preferred }
            return try beside { try CurlLoop(options: loops[0].options, share: .whole, sharesConnections: false) }
        }
    }

    extension ConnectionOptions {
        fileprivate func mayShareConnection(_ request: HTTPRequest) -> Bool {
            switch http3.versions {
            case .http1Only: false
            case .http2PriorKnowledge: true
            case .automatic, .http3, .http3Only: request.urlText.hasSecureScheme
            }
        }
    }
#endif
