package import Foundation
package import MidstreamCore
package import MidstreamTransport
package import MidstreamURLSession

#if canImport(FoundationNetworking)
    package import FoundationNetworking
#endif
#if os(Linux)
    package import MidstreamCurl
    package import MidstreamWire
#endif

/// A client as `HTTPClient.init` makes it, but with no limits in real time that a slow machine could meet: an attempt has a
/// timeout only if the test sets one, or has a clock of its own.
///
/// - Parameter transport: The platform's by default, a new one for each client.
package func testClient(
    baseURL: String? = nil, configuration: HTTPClient.Configuration = .init(), transport: (any HTTPTransport)? = nil,
    @PipelineBuilder interceptors: () -> [any HTTPInterceptor] = { [] }
) -> HTTPClient {
    var configuration = configuration
    if configuration.clock is ContinuousClock, configuration.timeout == HTTPClient.Configuration().timeout {
        configuration.timeout = nil
    }
    let client = HTTPClient(
        baseURL: baseURL, configuration: configuration, transport: transport ?? platformTransport(), interceptors: interceptors)
    Belongings.current?.add(client)
    return client
}

/// A client with a `URL` as its base.
package func testClient(
    baseURL: URL, configuration: HTTPClient.Configuration = .init(), transport: (any HTTPTransport)? = nil,
    @PipelineBuilder interceptors: () -> [any HTTPInterceptor] = { [] }
) -> HTTPClient {
    testClient(
        baseURL: baseURL.absoluteString, configuration: configuration, transport: transport, interceptors: interceptors)
}

/// A new transport of the kind that clients have by default, without limits in real time; on Linux libcurl's where `MIDSTREAM_TRANSPORT`
/// is `curl`.
package func platformTransport() -> any HTTPTransport {
    #if os(Linux)
        ProcessInfo.processInfo.environment["MIDSTREAM_TRANSPORT"] == "curl" ? curlTransport() : wireTransport()
    #else
        urlSessionTransport()
    #endif
}

/// A transport as `URLSessionTransport.init` makes it; it has no limits in real time anyway.
package func urlSessionTransport(
    configuration: URLSessionConfiguration = .ephemeral, tls: TLSConfiguration = TLSConfiguration(),
    assumesHTTP3Capable: Bool = false, bufferLimit: Int = URLSessionTransport.defaultBufferLimit,
    spoolLimit: Int64 = URLSessionTransport.defaultSpoolLimit
) -> URLSessionTransport {
    let transport = URLSessionTransport(
        configuration: configuration, tls: tls, assumesHTTP3Capable: assumesHTTP3Capable, bufferLimit: bufferLimit,
        spoolLimit: spoolLimit)
    Belongings.current?.add(transport)
    return transport
}

#if os(Linux)
    extension TransportConfiguration {
        /// Without limits in real time other than those that the test sets.
        fileprivate var unlimited: TransportConfiguration {
            let defaults = TransportConfiguration()
            var configuration = self
            if connectTimeout == defaults.connectTimeout { configuration.connectTimeout = .seconds(86_400) }
            if idleTimeout == defaults.idleTimeout { configuration.idleTimeout = nil }
            if idleConnectionLifetime == defaults.idleConnectionLifetime {
                configuration.idleConnectionLifetime = .seconds(86_400)
            }
            return configuration
        }
    }

    /// A transport as `WireTransport.init` makes it, but with no limits in real time other than those that the test sets.
    package func wireTransport(configuration: TransportConfiguration = .init()) -> WireTransport {
        let transport = WireTransport(configuration: configuration.unlimited)
        Belongings.current?.add(transport)
        return transport
    }

    /// A transport as `CurlTransport.init` makes it, but with no limits in real time other than those that the test sets.
    package func curlTransport(configuration: TransportConfiguration = .init()) -> CurlTransport {
        let transport = CurlTransport(configuration: configuration.unlimited)
        Belongings.current?.add(transport)
        return transport
    }
#endif
