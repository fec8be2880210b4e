#if os(Linux)
    internal import CCurl
    internal import MidstreamCore
    internal import MidstreamTransport

    /// What becomes of a configuration's wish for HTTP/3.
    struct HTTP3Choice {
        /// Those that are spoken.
        let versions: TransportConfiguration.HTTPVersions
        /// What traces say when it isn't spoken though it is wished for.
        let remark: String?
        /// Why no request can be sent.
        let problem: HTTPError?

        /// - Parameter obstacle: Why libcurl can't speak it.
        init(_ configuration: TransportConfiguration, obstacle: String? = CurlLibrary.obstacleToHTTP3) {
            let wished = configuration.httpVersions
            guard wished == .http3 || wished == .http3Only, let obstacle = obstacle ?? Self.obstacle(configuration) else {
                (versions, remark, problem) = (wished, nil, nil)
                return
            }
            versions = .automatic
            remark = "HTTP/3 isn't spoken: \(obstacle)"
            problem =
                wished == .http3Only
                ? HTTPError.unsupported("httpVersions is .http3Only, but HTTP/3 can't be spoken: \(obstacle).")
                : nil
        }

        /// With one of these, requests must not go past it by UDP.
        private static func obstacle(_ configuration: TransportConfiguration) -> String? {
            if configuration.proxy != .direct { return "proxies are configured, which don't carry it" }
            return configuration.unixSocketPath == nil ? nil : "a unix domain socket doesn't carry it"
        }

        /// Whether a connection of https may speak it.
        var isOffered: Bool { versions == .http3 || versions == .http3Only }

        /// Curl's number for them, of https.
        var offer: Int {
            switch versions {
            case .http3: Int(CURL_HTTP_VERSION_3)
            case .http3Only: ccurl_http3_only()
            case .automatic, .http1Only, .http2PriorKnowledge: Int(CURL_HTTP_VERSION_2TLS)
            }
        }

        /// - Throws: ``HTTPError`` when a URL's scheme leaves no version.
        func check(isSecure: Bool) throws {
            guard versions == .http3Only, !isSecure else { return }
            throw HTTPError.unsupported("httpVersions is .http3Only, and HTTP/3 takes https.")
        }
    }

    extension HTTPVersion {
        /// Whether several requests at a time share a connection, on which the server may speak when it likes.
        var sharesConnections: Bool { self == .http2 || self == .http3 }
    }
#endif
