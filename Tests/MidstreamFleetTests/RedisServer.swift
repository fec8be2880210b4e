#if os(Linux)
    import Foundation
    import Glibc
    import Interception
    import MidstreamCore
    import MidstreamTransport
    import MidstreamWire
    import TestSupport
    import Testing

    @testable import MidstreamFleet

    /// A redis-server on a random port of loopback, with its files in a folder of its own. Debian's redis-tools holds the program under
    /// another name.
    final class RedisServer: Sendable {
        struct NotStarted: Error {}

        private struct State {
            var process: Task<Void, Never>?
            var port = 0
        }

        static let program = ["/usr/bin/redis-server", "/usr/bin/redis-check-rdb", "/usr/local/bin/redis-server"].first {
            FileManager.default.isExecutableFile(atPath: $0)
        }
        static var hasCertificates: Bool { ProcessInfo.processInfo.environment["MIDSTREAM_SERVER_CERT"] != nil }

        let isSecure: Bool
        private let folder: URL
        private let arguments: [String]
        private let state = Locked(State())

        init(secure: Bool = false, _ arguments: [String] = []) async throws {
            isSecure = secure
            folder = temporaryPath("midstream-redis-\(UUID().uuidString)")
            self.arguments = arguments
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let program = try #require(Self.program, "Scripts/install installs redis-tools")
            try FileManager.default.createSymbolicLink(
                atPath: folder.path + "/redis-server", withDestinationPath: program)
            // Below those that the kernel gives to outgoing connections. Somebody else may be quicker.
            for attempt in 1...5 {
                state.withLock { $0.port = Int.random(in: 20_000..<32_000) }
                do {
                    try await start()
                    break
                } catch {
                    if attempt == 5 { throw error }
                }
            }
        }

        deinit {
            state.withLock { $0.process?.cancel() }
            try? FileManager.default.removeItem(at: folder)
        }

        var port: Int { state.withLock { $0.port } }
        var url: String { "\(isSecure ? "rediss" : "redis")://localhost:\(port)" }
        var tls: TLSConfiguration? {
            isSecure
                ? TLSConfiguration(authorities: ProcessInfo.processInfo.environment["MIDSTREAM_CA"].map { .file($0) }) : nil
        }
        private var pidFile: String { folder.path + "/pid" }

        func start() async throws {
            let environment = ProcessInfo.processInfo.environment
            let ports =
                isSecure
                ? [
                    "--port", "0", "--tls-port", "\(port)", "--tls-cert-file", environment["MIDSTREAM_SERVER_CERT"] ?? "",
                    "--tls-key-file", environment["MIDSTREAM_SERVER_KEY"] ?? "", "--tls-ca-cert-file",
                    environment["MIDSTREAM_CA"] ?? "", "--tls-auth-clients", "no",
                ] : ["--port", "\(port)"]
            let all =
                ports + [
                    "--bind", "127.0.0.1", "--dir", folder.path, "--pidfile", pidFile, "--save", "", "--appendonly", "no",
                ] + arguments
            try? FileManager.default.removeItem(atPath: pidFile)
            let path = folder.path + "/redis-server"
            let hasEnded = Locked(false)
            state.withLock {
                $0.process = Task {
                    _ = try? await ChildProcess.run(path, all)
                    hasEnded.withLock { $0 = true }
                }
            }
            try await eventually {
                if try await isThere() { return true }
                return hasEnded.withLock { $0 }
            }
            if hasEnded.withLock({ $0 }) { throw NotStarted() }
        }

        private func isThere() async throws -> Bool {
            do {
                return try await command(["PING"]) == .text("PONG")
            } catch StoreFailure.unwilling {
                return true
            } catch {
                return false
            }
        }

        /// Ends it without any warning.
        func kill() async {
            signal(SIGKILL)
            state.withLock { $0.process }?.cancel()
            await state.withLock { $0.process }?.value
        }

        func pause() { signal(SIGSTOP) }
        func resume() { signal(SIGCONT) }

        private func signal(_ number: Int32) {
            guard let text = try? String(contentsOfFile: pidFile, encoding: .utf8),
                let id = Int32(text.trimmingCharacters(in: .whitespacesAndNewlines))
            else { return }
            Glibc.kill(id, number)
        }

        /// Sends a command over a connection of its own.
        @discardableResult
        func command(
            _ words: [String], password: String? = nil, within limit: Duration = .seconds(120)
        ) async throws -> RESPValue {
            let transport = WireTransport(configuration: .init(idleTimeout: nil, usesCallersThreads: false))
            defer { transport.close() }
            let origin = try #require(HTTPOrigin("\(isSecure ? "https" : "http")://localhost:\(port)"))
            // Also while its certificate is a wrong one.
            let trust = isSecure ? TLSConfiguration(verifiesCertificates: false) : nil
            let channel = try await transport.connect(to: origin, tls: trust, timeout: .seconds(120))
            let connection = RedisConnection(channel) { _ in }
            defer { connection.close() }
            if let password { _ = connection.send(RESPCommand("AUTH", .text(password))) }
            let reply = try #require(connection.send(RESPCommand(words.map { .text($0) })))
            guard case .value(let answer) = await reply.wait(for: limit, on: .system) else { throw StoreFailure.timedOut }
            return try answer.get()
        }
    }

    extension RedisServer {
        /// A member whose store is this one. Its patience is such that a slow machine makes no difference, unless the test sets another.
        func fleet(
            _ name: String = "test", patience: Duration = .seconds(60), members: Int = 1, key: FleetKey = testKey,
            grace: Duration = .milliseconds(50), probe: Duration = .seconds(60)
        ) throws -> Fleet {
            try Self.fleet(at: url, tls, name: name, patience: patience, members: members, key: key, grace: grace, probe: probe)
        }

        static func fleet(
            at url: String, _ tls: TLSConfiguration? = nil, name: String, patience: Duration = .seconds(60), members: Int = 1,
            key: FleetKey = testKey, grace: Duration = .milliseconds(50), probe: Duration = .seconds(60)
        ) throws -> Fleet {
            // No slow machine is taken for a Redis in trouble.
            let limits = RedisLink.Limits(
                beginning: .seconds(60), heartbeat: .seconds(60), probe: probe, silence: .seconds(60), grace: grace)
            let fleet = try Fleet(
                .redis(url, tls: tls), name: name, patience: patience, members: members, key: key, clock: ContinuousClock(),
                limits: limits)
            Belongings.current?.add(fleet.core)
            return fleet
        }
    }
#endif
