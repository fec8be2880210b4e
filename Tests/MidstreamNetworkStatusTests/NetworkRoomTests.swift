#if os(Linux)
    import Dispatch
    import Foundation
    import Glibc
    import Interception
    import Midstream
    import MidstreamTesting
    import TestSupport
    import Testing

    @testable import MidstreamNetworkStatus

    /// The variable of a process that has a network of its own.
    private let isInRoomVariable = "MIDSTREAM_NETWORK_ROOM"
    private var isInRoom: Bool { ProcessInfo.processInfo.environment[isInRoomVariable] != nil }

    /// Runs a command, found where administrators' are, too.
    private func run(_ command: [String]) async throws -> ChildProcess {
        try await ChildProcess.run("/usr/bin/env", ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"] + command)
    }

    private func runInRoom(_ command: String...) async throws -> ChildProcess {
        try await run(["unshare", "--user", "--map-root-user", "--net"] + command)
    }

    @Suite("A network that changes", .leavesNothing, .timeLimit(.minutes(10)), .enabled(if: !isInRoom))
    struct NetworkRoomTests {
        /// Not everywhere may anybody have a network of his own.
        private static func canBeMade() async -> Bool {
            (try? await runInRoom("ip", "link", "add", "mid0", "type", "veth", "peer", "name", "mid1").status) == .exited(0)
        }

        @Test("The system's status hears of it, in a process with a network of its own", .enabled { await canBeMade() })
        func room() async throws {
            let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            let process = try await runInRoom(
                "env", "\(isInRoomVariable)=1", program, "--testing-library", "swift-testing", "--filter", "NetworkRoom/")
            let output = process.text + process.errorText
            #expect(process.status == .exited(0) && output.contains("2 tests in 1 suite passed"), "\(output)")
        }
    }

    /// In a process with a network of its own, in which nothing else runs.
    @Suite("A process with a network of its own", .leavesNothing, .serialized, .timeLimit(.minutes(10)), .enabled(if: isInRoom))
    struct NetworkRoom {
        private static let hasIPv6 =
            (try? String(contentsOfFile: "/proc/sys/net/ipv6/conf/default/disable_ipv6", encoding: .utf8)) == "0\n"

        @discardableResult
        private func ip(_ arguments: String) async throws -> String {
            let process = try await run(["ip"] + arguments.split(separator: " ").map(String.init))
            try #require(process.status == .exited(0), "ip \(arguments): \(process.errorText)")
            return process.text
        }

        /// The sockets on which the kernel tells of changes, by descriptor. Questions to it have sockets of the kind, too, but no groups.
        private func watches() -> [Int32] {
            (0..<256).filter { descriptor in
                var address = sockaddr()
                var length = socklen_t(MemoryLayout<sockaddr>.size)
                guard getsockname(descriptor, &address, &length) == 0, Int32(address.sa_family) == AF_NETLINK else {
                    return false
                }
                return withUnsafeBytes(of: &address) { $0.load(fromByteOffset: 8, as: UInt32.self) } != 0
            }
        }

        @Test("An interface comes, and goes again")
        func comesAndGoes() async throws {
            let status = SystemNetworkStatus()
            func isOnline() async -> Bool { await status.isOnline }
            #expect(await !isOnline() && watches().isEmpty)

            let strategy = RetryStrategy.whenOnline(within: .seconds(86_400))
            let client = testClient(
                configuration: .init(maxRetries: 1, validators: [DefaultValidator(retriableErrors: [.connection: strategy])]))
            let call = Task { await httpError { try await client.send(HTTPRequest("http://192.0.2.1:9/")) } }
            let waits = (0..<10).map { _ in Task { try await status.waitUntilOnline() } }
            let cancelled = Task { try await status.waitUntilOnline() }
            await eventually { SystemNetworkStatus.waiters.count == 12 }
            let socket = try #require(watches().first)
            #expect(fcntl(socket, F_GETFD) & FD_CLOEXEC != 0)
            cancelled.cancel()
            await #expect(throws: CancellationError.self) { try await cancelled.value }

            try await ip("link set lo up")
            try await ip("link add near0 type veth peer name near1")
            try await ip("address add 169.254.7.7/16 dev near0")
            try await ip("link set near1 up")
            try await ip("link set near0 up")
            try await eventually { try await ip("link show near0").contains("state UP") }
            #expect(await !isOnline(), "Loopback and link-local addresses lead nowhere.")
            try await ip("link add far0 type veth peer name far1")
            try await ip("address add 192.0.2.1/24 dev far0")
            try await ip("link set far0 up")
            #expect(await !isOnline(), "What isn't plugged in leads nowhere.")
            #expect(watches() == [socket] && SystemNetworkStatus.waiters.count == 11)
            try await ip("link set far1 up")
            for wait in waits { try await wait.value }
            #expect(await isOnline())
            let error = try #require(await call.value)
            let trace = try #require(error.trace)
            #expect(error.cause == .connection && "\(trace)".contains("the network is back"), "\(error)")
            await eventually { watches().isEmpty }

            try await ip("address del 192.0.2.1/24 dev far0")
            #expect(await !isOnline())
            let wait = Task { try await status.waitUntilOnline() }
            await eventually { SystemNetworkStatus.waiters.count == 1 }
            try await ip("address add \(Self.hasIPv6 ? "2001:db8::1/64" : "198.51.100.1/24") dev far0")
            try await wait.value
            try await status.waitUntilOnline()

            try await ip("link set far0 down")
            #expect(await !isOnline())
            let last = Task { try await status.waitUntilOnline() }
            await eventually { SystemNetworkStatus.waiters.count == 1 }
            last.cancel()
            await #expect(throws: CancellationError.self) { try await last.value }
            await eventually { watches().isEmpty }

            let routed = Task { try await status.waitUntilOnline() }
            await eventually { SystemNetworkStatus.waiters.count == 1 }
            try await ip("route add default dev near0")
            try await routed.value
            #expect(await isOnline(), "A default route leads somewhere, whatever the address.")
            try await ip("link set near1 down")
            try await eventually { try await !ip("link show near0").contains("state UP") }
            #expect(await !isOnline(), "What isn't plugged in leads nowhere, also by a route.")
            await eventually { watches().isEmpty }
        }

        @Test("What is lost, since nobody has read for long, is a change like any other")
        func overflow() async throws {
            let (goOn, calls) = (DispatchSemaphore(value: 0), Locked(0))
            let end = try InterfaceWatch.begin {
                let call = calls.increment()
                if call == 1 { goOn.wait() }
            }
            await eventually { calls.withLock { $0 } == 1 }
            let socket = try #require(watches().first)
            // The least that the kernel allows.
            var size: Int32 = 0
            #expect(setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size)) == 0)
            for number in 0..<10 { try await ip("link add lost\(number) type veth peer name other\(number)") }
            goOn.signal()
            await eventually { calls.withLock { $0 } > 1 }
            for number in 0..<3 {
                let before = calls.withLock { $0 }
                try await ip("link set lost\(number) up")
                await eventually { calls.withLock { $0 } > before }
            }
            end()
            await eventually { watches().isEmpty }
        }
    }
#endif
