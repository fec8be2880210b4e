import Foundation
import MidstreamCore
import Testing

/// The servers and proxies that `Scripts/with-servers` has started around the tests; without it the tests that need them are
/// skipped.
enum Nginx {
    static var isRunning: Bool { http != nil }

    /// Origins, without a path.
    static let http = value("NGINX_HTTP")
    static let https = value("NGINX_HTTPS")
    static let mutualTLS = value("NGINX_MTLS")

    static let socket = value("NGINX_SOCKET")
    static let root = value("NGINX_ROOT")
    static let log = value("NGINX_LOG")

    static let authority = value("CA")
    static let serverCertificate = value("SERVER_CERT")
    static let serverKey = value("SERVER_KEY")
    static let clientCertificate = value("CLIENT_CERT")
    static let clientKey = value("CLIENT_KEY")
    static let clientPKCS12 = value("CLIENT_PKCS12")
    static let clientPassword = value("CLIENT_PASSWORD")
    static let pin = value("SERVER_PIN")

    static let httpProxy = value("HTTP_PROXY")
    static let openHTTPProxy = value("HTTP_PROXY_OPEN")
    static let socksProxy = value("SOCKS_PROXY")
    static let proxyUser = value("PROXY_USER")
    static let proxyPassword = value("PROXY_PASSWORD")

    private static func value(_ name: String) -> String? { ProcessInfo.processInfo.environment["MIDSTREAM_\(name)"] }

    /// The bytes of a file that is served or was stored.
    static func file(_ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: (root ?? "") + path)))
    }

    /// The lines of the access log with a text in them: connection, request on that connection, protocol, request line. The
    /// server writes a line after it has sent the answer, so as many as are expected are waited for.
    static func logLines(with text: String, count: Int) async throws -> [[Substring]] {
        while true {
            let log = try String(contentsOfFile: log ?? "", encoding: .utf8)
            let lines = log.split(separator: "\n").filter { $0.contains(text) }
            if lines.count >= count { return lines.map { $0.split(separator: " ") } }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// Asks for its page "/hello" or another one that says so, in both ways.
    static func expectHello(
        _ url: String, by client: HTTPClient, _ location: SourceLocation = #_sourceLocation
    ) async throws {
        for delivery in Delivery.allCases {
            let received = try await delivery.send(HTTPRequest(url), by: client)
            #expect(received.status == .ok, sourceLocation: location)
            #expect(received.text == "hello\n", sourceLocation: location)
        }
    }
}
