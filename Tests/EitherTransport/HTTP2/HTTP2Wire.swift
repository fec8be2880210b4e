#if os(Linux)
    import Foundation
    import MidstreamCore
    import MidstreamTransport
    import TestSupport
    import Testing

    /// A way to come to HTTP/2: by knowing it beforehand (RFC 9113 §3.3), or by TLS (§3.2).
    struct HTTP2Wire: Sendable, CustomStringConvertible {
        /// Nil: without TLS.
        let tls: TLSServer?

        var description: String { tls == nil ? "http" : "https" }

        /// TLS only where `Scripts/with-servers` has made certificates.
        static func all() throws -> [HTTP2Wire] { try [HTTP2Wire(tls: nil)] + (secure.map { [$0] } ?? []) }

        static var secure: HTTP2Wire? {
            get throws {
                guard Servers.areRunning else { return nil }
                return HTTP2Wire(tls: try TLSServer(certificate: Servers["CLIENT_CERT"], key: Servers["CLIENT_KEY"]))
            }
        }

        /// - Parameters:
        ///   - patience: How long a head may take, and how long a body may stand still.
        ///   - standstill: How long a body may stand still, where that is less.
        func transport(patience: Duration = .seconds(120), standstill: Duration? = nil) -> any LoopTransport {
            var configuration = TransportConfiguration()
            configuration.tls.verifiesCertificates = false
            configuration.httpVersions = tls == nil ? .http2PriorKnowledge : .automatic
            configuration.headTimeout = patience
            configuration.idleTimeout = standstill ?? patience
            return testedTransport(configuration: configuration)
        }
    }

    /// A request to another server by the same loop, which is under way while something else goes wrong.
    struct Bystander {
        private let response: HTTPResponse
        private let server: RawServer
        private let mayFinish: DispatchSemaphore

        /// Returns when half of the response has come.
        init(_ transport: any LoopTransport) async throws {
            let mayFinish = DispatchSemaphore(value: 0)
            self.mayFinish = mayFinish
            server = try RawServer.http2 { peer in
                guard peer.speaksHTTP2 else {
                    guard peer.connection.readHead() != nil else { return }
                    peer.connection.write("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf")
                    mayFinish.wait()
                    peer.connection.write("half")
                    return
                }
                guard peer.begin(), let stream = peer.nextRequest() else { return }
                peer.write(HTTP2Frame.headers([.ok], stream: stream) + HTTP2Frame.data("half", stream: stream))
                mayFinish.wait()
                peer.write(HTTP2Frame.data("half", end: true, stream: stream))
                peer.connection.waitForEnd()
            }
            response = try await transport.deliver(request(server.url, .streamed))
        }

        func expectToFinish() async throws {
            mayFinish.signal()
            #expect(try await response.body.collect() == Array("halfhalf".utf8))
        }
    }

    /// Frames without an end.
    struct Flood: Sendable, CustomTestStringConvertible {
        let name: String
        let first: [UInt8]
        let frames: [UInt8]
        /// What the request ends with where floods are told as such.
        let code: HTTPError.Code

        var testDescription: String { name }

        init(_ name: String, _ frames: [UInt8], after first: [UInt8] = [], _ code: HTTPError.Code = .protocolViolation) {
            self.name = name
            self.first = first
            self.frames = frames
            self.code = code
        }
    }
#endif
