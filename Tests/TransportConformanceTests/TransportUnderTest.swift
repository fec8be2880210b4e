import Foundation
import MidstreamCore
import MidstreamTransport
import MidstreamURLSession
import TestSupport
import Testing

#if os(Linux)
    import MidstreamCurl
#endif

/// The transports that have to pass the suite. Every test takes one as its argument and makes a new one for itself.
enum TransportUnderTest: String, CaseIterable, Codable, Sendable, CustomTestStringConvertible {
    #if os(Linux)
        case wire, curl
        /// libcurl by HTTP/3, through a server that speaks it in front of the test's. `Scripts/check http3` alone has it tested.
        case http3
    #endif
    case urlSession

    /// All of them, or the one that `MIDSTREAM_TRANSPORT` names.
    static let allCases: [Self] = {
        var all: [Self] = [.urlSession]
        #if os(Linux)
            all = [.wire, .curl] + all
        #endif
        guard let only = ProcessInfo.processInfo.environment["MIDSTREAM_TRANSPORT"] else { return all }
        #if os(Linux)
            if only == "http3", HTTP3.isSpoken { return [.http3] }
        #endif
        return all.filter { $0.rawValue == only }
    }()

    func make() -> any HTTPTransport {
        switch self {
        #if os(Linux)
            case .wire: wireTransport()
            case .curl: curlTransport()
            case .http3: HTTP3Gateway()
        #endif
        case .urlSession: urlSessionTransport()
        }
    }

    /// A client on a new transport that takes every status as it comes.
    func client(_ change: (inout HTTPClient.Configuration) -> Void = { _ in }) -> HTTPClient {
        Self.client(on: make(), change)
    }

    static func client(
        on transport: any HTTPTransport, _ change: (inout HTTPClient.Configuration) -> Void = { _ in }
    ) -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        configuration.validators = []
        configuration.redirects = .refuse
        configuration.timeout = nil
        change(&configuration)
        return testClient(configuration: configuration, transport: transport)
    }

    var testDescription: String { rawValue }
}

#if os(Linux)
    /// The transports that a ``TransportConfiguration`` sets up.
    enum ConfiguredTransport: String, CaseIterable, Codable, Sendable, CustomTestStringConvertible {
        case wire, curl

        /// All of them, or the one that `MIDSTREAM_TRANSPORT` names.
        static let allCases = TransportUnderTest.allCases.compactMap { Self(rawValue: $0.rawValue) }

        func make(_ configuration: TransportConfiguration = .init()) -> any HTTPTransport {
            switch self {
            case .wire: wireTransport(configuration: configuration)
            case .curl: curlTransport(configuration: configuration)
            }
        }

        /// A client on a new transport that trusts nginx, and takes every status as it comes.
        func client(_ change: (inout TransportConfiguration) -> Void = { _ in }) -> HTTPClient {
            var configuration = TransportConfiguration()
            configuration.tls.authorities = Nginx.authority.map { .file($0) }
            change(&configuration)
            return TransportUnderTest.client(on: make(configuration))
        }

        /// The newest version of HTTP that it speaks.
        var newestVersion: HTTPVersion { .http2 }

        var testDescription: String { rawValue }
    }
#endif

/// How a response is asked for. Both ways have to give the same.
enum Delivery: String, CaseIterable, Sendable, CustomTestStringConvertible {
    /// With ``HTTPClient/send(_:)``: the transport may gather the body itself.
    case buffered
    /// With ``HTTPClient/stream(_:)``: the body is read while it arrives.
    case streamed

    /// Sends a request and reads the body of its response to the end.
    func send(_ request: HTTPRequest, by client: HTTPClient) async throws -> Received {
        switch self {
        case .buffered:
            let response = try await client.send(request)
            return Received(response: response, bytes: try #require(response.body.bytes))
        case .streamed:
            let response = try await client.stream(request)
            var bytes: [UInt8] = []
            for try await chunk in response.body {
                #expect(!chunk.isEmpty, "A chunk of a body is never empty.")
                bytes += chunk
            }
            return Received(response: response, bytes: bytes)
        }
    }

    var testDescription: String { rawValue }
}

/// A response and the whole of its body.
struct Received: Sendable {
    let response: HTTPResponse
    let bytes: [UInt8]

    var status: HTTPStatus { response.status }
    var headers: HTTPHeaders { response.headers }
    var text: String { String(decoding: bytes, as: UTF8.self) }
}
