#if os(Linux)
    import Foundation
    import MidstreamCore
    import MidstreamTesting
    import MidstreamWebSocket
    import TestSupport

    /// A server of Python's websockets that sends back what it gets, as a process that the test may end.
    final class WebSocketProcess: Sendable {
        private static let python = ProcessInfo.processInfo.environment["MIDSTREAM_PYTHON"] ?? ""

        /// Whether `Scripts/with-servers` has found that package.
        static var isThere: Bool { !python.isEmpty }

        /// A port that was free a moment ago, below those that the kernel gives to outgoing connections and other tests' servers.
        static func freePort() throws -> Int {
            for _ in 0..<100 {
                guard let server = try? MockServer(port: .random(in: 20_000..<32_000)) else { continue }
                defer { server.shutdown() }
                return server.port
            }
            throw POSIXError(.EADDRINUSE)
        }

        let port: Int
        private let process: Task<Void, Never>
        private let folder: TemporaryFolder

        var url: String { "ws://127.0.0.1:\(port)/echo" }

        init(port: Int) throws {
            self.port = port
            folder = try TemporaryFolder()
            let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent().appendingPathComponent("Servers/websocket.py").path
            let words = [
                "-u", "LD_LIBRARY_PATH", Self.python, script, folder.url.appendingPathComponent("socket").path, "\(port)",
            ]
            process = Task.detached { _ = try? await ChildProcess.run("/usr/bin/env", words) }
        }

        /// Waits until it takes sockets.
        func isReady(for client: HTTPClient) async throws {
            await eventually { (try? await client.webSocket("\(raw: url)").connect()) != nil }
        }

        /// Kills it; returns when it is gone.
        func kill() async {
            process.cancel()
            await process.value
        }
    }
#endif
