public import Foundation

#if Wire && os(Linux)
    internal import MidstreamWire
#elseif Curl && os(Linux)
    internal import MidstreamCurl
#elseif !os(Linux)
    internal import MidstreamURLSession
#elseif URLSession
    internal import URLSessionOnLinux
#endif

extension HTTPClient {
    /// Makes a client on the platform's transport: the wire on Linux, URLSession elsewhere.
    ///
    /// On Linux the package trait `Wire` brings connections of our own, and is on by default. The trait `Curl` brings libcurl where it is
    /// off, and the trait `URLSession` brings URLSession where both are. Without any, a client without a transport of its own fails with
    /// ``HTTPError/Code/unsupported``.
    ///
    /// - Parameters:
    ///   - baseURL: What relative URLs are joined to: `https://h/v2` and `users` give `https://h/v2/users`. Checked when it is used.
    ///   - configuration: Settings; see ``HTTPClient/Configuration`` for the defaults.
    ///   - transport: Another transport in place of the platform's, which all clients without one of their own share.
    ///   - interceptors: In each stage the first listed is the outermost. The stages are sorted by the pipeline.
    public convenience init(
        baseURL: String? = nil, configuration: Configuration = .init(), transport: (any HTTPTransport)? = nil,
        @PipelineBuilder interceptors: () -> [any HTTPInterceptor] = { [] }
    ) {
        self.init(
            baseURL: baseURL, configuration: configuration, transport: transport ?? Self.defaultTransport,
            interceptors: interceptors)
    }

    /// Makes a client with a `URL` as its base, on the platform's transport unless another one is given.
    public convenience init(
        baseURL: URL, configuration: Configuration = .init(), transport: (any HTTPTransport)? = nil,
        @PipelineBuilder interceptors: () -> [any HTTPInterceptor] = { [] }
    ) {
        self.init(
            baseURL: baseURL.absoluteString, configuration: configuration, transport: transport ?? Self.defaultTransport,
            interceptors: interceptors)
    }

    /// A client with the defaults and no interceptors, for scripts and first steps.
    public static let shared = HTTPClient()

    /// The platform's transport. Clients share it and so their connections.
    public static let defaultTransport: any HTTPTransport = platformTransport()

    #if Wire && os(Linux)
        private static func platformTransport() -> WireTransport { WireTransport() }
    #elseif Curl && os(Linux)
        private static func platformTransport() -> CurlTransport { CurlTransport() }
    #elseif !os(Linux) || URLSession
        private static func platformTransport() -> URLSessionTransport { URLSessionTransport() }
    #else
        private static func platformTransport() -> MissingTransport { MissingTransport() }
    #endif
}

#if os(Linux) && !Wire && !Curl && !URLSession
    /// Stands where no transport is, so that code which names one compiles with any traits.
    private struct MissingTransport: HTTPTransport {
        func send(_ request: HTTPRequest) async throws -> HTTPResponse {
            throw HTTPError.unsupported(
                "This program was built without a transport. Turn on one of the package traits Wire, Curl and URLSession, or give the client one.",
                request: request)
        }
    }
#endif
