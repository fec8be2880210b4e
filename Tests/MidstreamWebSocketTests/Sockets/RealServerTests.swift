#if os(Linux)
    import Foundation
    import Interception
    import MidstreamCore
    import MidstreamTransport
    import MidstreamWebSocket
    import MidstreamWire
    import TestSupport
    import Testing

    private func variable(_ name: String) -> String { ProcessInfo.processInfo.environment["MIDSTREAM_\(name)"] ?? "" }

    private let websocketsAreThere = !variable("WEBSOCKET_PORT").isEmpty

    /// Against Python's websockets, straight and through what may lie between.
    @Suite(
        .leavesNothing, .enabled(if: websocketsAreThere, "run by Scripts/with-servers, with Scripts/python's packages"),
        .timeLimit(.minutes(10)))
    struct RealServerTests {
        /// By its name, for what a test says.
        private struct Way: Sendable, CustomTestStringConvertible {
            let testDescription: String
            let url: String
            var configuration = TransportConfiguration()

            static let all: [Way] = {
                let (http, https) = (variable("NGINX_HTTP") + "/ws", variable("NGINX_HTTPS") + "/ws")
                let trusting = TransportConfiguration(tls: .init(authorities: .file(variable("CA"))))
                let credentials = TransportConfiguration.Credentials(
                    user: variable("PROXY_USER"), password: variable("PROXY_PASSWORD"))
                var ways = [
                    Way(testDescription: "straight", url: "ws://127.0.0.1:\(variable("WEBSOCKET_PORT"))"),
                    Way(testDescription: "behind nginx", url: http),
                    Way(
                        testDescription: "behind nginx, over TLS", url: https.replacing("https:", with: "wss:"),
                        configuration: trusting),
                    Way(
                        testDescription: "unix socket", url: "http://localhost",
                        configuration: .init(unixSocketPath: variable("WEBSOCKET_SOCKET"))),
                ]
                for proxy: TransportConfiguration.Proxy in [
                    .http(variable("HTTP_PROXY"), credentials: credentials),
                    .socks5(variable("SOCKS_PROXY").replacing("socks5://", with: ""), credentials: credentials),
                ] {
                    var configuration = trusting
                    configuration.proxy = proxy
                    ways.append(Way(testDescription: "\(proxy)", url: http, configuration: configuration))
                    ways.append(Way(testDescription: "\(proxy), TLS", url: https, configuration: configuration))
                }
                return ways
            }()
        }

        private func client(_ way: Way) -> HTTPClient {
            testClient(transport: wireTransport(configuration: way.configuration))
        }

        @Test(arguments: Way.all) private func `Messages of every size go there and back`(_ way: Way) async throws {
            let client = client(way)
            for compression in [WebSocketOptions.Compression.off, .offered] {
                let socket = try await client.webSocket("\(raw: way.url)/echo", protocols: ["v2"]) {
                    $0.compression = compression
                }
                .connect()
                #expect(socket.isCompressing == (compression == .offered) && socket.subprotocol == "v2")
                let sizes = [0, 1, 125, 126, 127, 65_535, 65_536, 300_000, 3 << 20]
                let sending = Task {
                    for size in sizes {
                        try await socket.send(String(repeating: "ä", count: size / 2))
                        try await socket.send((0..<size).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 7) })
                    }
                }
                var messages = socket.makeAsyncIterator()
                for size in sizes {
                    #expect(try await messages.next() == .text(String(repeating: "ä", count: size / 2)))
                    let bytes = try await messages.next()
                    #expect(bytes?.kind == .binary && bytes?.bytes == (0..<size).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 7) })
                }
                try await sending.value
                #expect(try await socket.ping() > .zero)
                try await socket.close(.normal, "bye")
                #expect(try await messages.next() == nil)
                #expect(socket.closure == WebSocketClosure(code: .normal, reason: "bye", byPeer: false))
            }
        }

        @Test(arguments: Way.all) private func `The server's close, ping and refusal arrive`(_ way: Way) async throws {
            let client = client(way)
            let late = try await client.webSocket("\(raw: way.url)/late").connect()
            var answers = late.makeAsyncIterator()
            #expect(try await answers.next() == .text("answered"))
            for code in [1000, 1011, 4_000] {
                let socket = try await client.webSocket("\(raw: way.url)/close/\(code)").connect()
                var messages = socket.makeAsyncIterator()
                if code == 1000 {
                    #expect(try await messages.next() == nil)
                } else {
                    await #expect(throws: HTTPError.self) { try await messages.next() }
                }
                #expect(socket.closure == WebSocketClosure(code: .init(rawValue: UInt16(code)), reason: "as asked", byPeer: true))
            }
            let error = await #expect(throws: HTTPError.self) { try await client.webSocket("\(raw: way.url)/refused").connect() }
            #expect(error?.code == .unacceptableStatus && error?.response?.body.text.contains("not you") == true)
        }

        @Test func `Many sockets of one client don't disturb each other`() async throws {
            let client = client(Way.all[0])
            try await withThrowingTaskGroup { group in
                for number in 0..<100 {
                    group.addTask {
                        let socket = try await client.webSocket("\(raw: Way.all[0].url)/echo").connect()
                        var messages = socket.makeAsyncIterator()
                        for turn in 0..<10 {
                            try await socket.send("\(number) \(turn)")
                            #expect(try await messages.next() == .text("\(number) \(turn)"))
                        }
                        try await socket.close()
                    }
                }
                try await group.waitForAll()
            }
        }
    }
#endif
