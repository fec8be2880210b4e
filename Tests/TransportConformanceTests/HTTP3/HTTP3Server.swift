#if os(Linux)
    import Foundation
    import MidstreamCore
    import MidstreamTransport
    import TestSupport

    @testable import MidstreamCurl

    /// The server of HTTP/3 that `Scripts/with-servers` has started where Python's aioquic is installed, and others of its kind.
    enum HTTP3 {
        /// Whether there is a server, and a libcurl that can speak to it.
        static var isSpoken: Bool { !python.isEmpty && CurlLibrary.obstacleToHTTP3 == nil }

        /// An origin whose port is nginx's for TCP, and that server's for UDP.
        static let origin = Nginx.https ?? ""
        static let port = origin.split(separator: ":").last.flatMap { Int($0) } ?? 0

        fileprivate static let python = ProcessInfo.processInfo.environment["MIDSTREAM_HTTP3_PYTHON"] ?? ""

        static func configuration(
            _ versions: TransportConfiguration.HTTPVersions = .http3Only,
            _ change: (inout TransportConfiguration) -> Void = { _ in }
        ) -> TransportConfiguration {
            var configuration = TransportConfiguration(httpVersions: versions)
            configuration.tls.authorities = Nginx.authority.map { .file($0) }
            change(&configuration)
            return configuration
        }

        /// A client that takes every status as it comes.
        static func client(
            _ versions: TransportConfiguration.HTTPVersions = .http3Only,
            _ change: (inout TransportConfiguration) -> Void = { _ in }
        ) -> HTTPClient {
            TransportUnderTest.client(on: curlTransport(configuration: configuration(versions, change)))
        }

        /// The number of the connection that a request to the origin comes by, as the server counts them.
        static func connection(_ client: HTTPClient, of origin: String = origin) async throws -> String {
            try await client.send(HTTPRequest(origin + "/-/connection")).body.text
        }
    }

    /// Another server of HTTP/3, as a process that the test may end.
    final class HTTP3Process: Sendable {
        private let process: Task<Void, Never>

        /// - Parameter port: One of UDP that is free.
        init(port: Int) {
            let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent().appendingPathComponent("Servers/http3.py").path
            let upstream = Nginx.http?.split(separator: ":").last.map(String.init) ?? ""
            // Not with the newer libcurl's libraries.
            let words = [
                "-u", "LD_LIBRARY_PATH", HTTP3.python, script, "\(port)", Nginx.serverCertificate ?? "", Nginx.serverKey ?? "",
            ]
            process = Task.detached { _ = try? await ChildProcess.run("/usr/bin/env", words + [upstream]) }
        }

        /// Kills it; returns when it is gone.
        func kill() async {
            process.cancel()
            await process.value
        }
    }

    /// Sends requests to http URLs of this machine by HTTP/3 all the same: through the server, which asks the URL's port.
    struct HTTP3Gateway: ExchangeTransport {
        private let transport = curlTransport(configuration: HTTP3.configuration())

        var keepsTime: Bool { true }

        func send(_ request: HTTPRequest) async throws -> HTTPResponse { try await send(request, ExchangeOptions()) }

        func send(_ request: HTTPRequest, _ options: ExchangeOptions) async throws -> HTTPResponse {
            var sent = request
            if request.urlText.hasPrefix("http://") {
                sent.urlText = "https" + request.urlText.dropFirst(4)
                sent.address = "127.0.0.1:\(HTTP3.port)"
            }
            return try await transport.send(sent, options)
        }
    }
#endif
