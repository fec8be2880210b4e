#if os(Linux)
    import Foundation
    import Glibc
    import Interception
    import MidstreamCore
    import MidstreamLoop
    import MidstreamTransport
    import TestSupport
    import Testing

    @testable import MidstreamWire

    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct DescriptorTests {
        /// What each open descriptor of this process stands for.
        static func open() throws -> [Int32: String] {
            let folder = "/proc/self/fd"
            var open: [Int32: String] = [:]
            for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
                guard let number = Int32(name) else { continue }
                // Nil for that of the folder, which is closed by now.
                open[number] = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)")
            }
            return open
        }

        /// Lets this process have so many; gives how many it might have before.
        @discardableResult
        static func allow(_ count: rlim_t) -> rlim_t {
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            let before = limit.rlim_cur
            limit.rlim_cur = count
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            return before
        }

        /// Leaves this process none; gives those that were taken for that.
        static func takeAll() -> [Int32] {
            allow(256)
            var taken: [Int32] = []
            while true {
                let descriptor = dup(STDERR_FILENO)
                guard descriptor >= 0 else { return taken }
                taken.append(descriptor)
            }
        }

        /// What needs a connection of its own, without a lookup.
        static func requestToHost(_ number: Int, of server: RawServer) -> HTTPRequest {
            var request = HTTPRequest("http://h\(number).invalid/")
            request.address = "127.0.0.1:\(server.port)"
            request.delivery = .buffered(upTo: 10)
            return request
        }

        /// In a process of its own, since those of other tests would be taken for the transport's.
        @Test func `A program that is started inherits nothing of a transport`() async {
            await #expect(processExitsWith: .success) {
                let folder = try TemporaryFolder()
                let secrets = folder.url.path + "/secrets"
                let server = try RawServer.ok()
                let deaf = try RawServer { connection in connection.write("no TLS") }
                let before = try DescriptorTests.open()
                let transport = wireTransport(
                    configuration: TransportConfiguration(tls: TLSConfiguration().keyLog(to: secrets)))
                _ = try await transport.deliver(request(server.url, .buffered(upTo: 10)))
                // Which opens the file.
                await #expect(throws: HTTPError.self) {
                    _ = try await transport.deliver(request("https://127.0.0.1:\(deaf.port)/", .buffered(upTo: 10)))
                }
                let own = try DescriptorTests.open().filter { before[$0.key] != $0.value }
                for kind in ["socket:", "anon_inode:[eventpoll]", "anon_inode:[eventfd]", secrets] {
                    #expect(own.values.contains { $0.hasPrefix(kind) }, "\(kind) in \(own)")
                }
                for (descriptor, name) in own {
                    let flags = fcntl(descriptor, F_GETFD)
                    // It may have been closed meanwhile.
                    #expect(flags < 0 || flags & FD_CLOEXEC != 0, "\(name)")
                }
                transport.close()
            }
        }

        @Test func `Connections that nobody uses take half of the descriptors at most`() async {
            await #expect(processExitsWith: .success) {
                let server = try RawServer.ok()
                let before = DescriptorTests.allow(64)
                let transport = wireTransport()
                // Which makes its loop.
                _ = transport.executor
                DescriptorTests.allow(before)
                for number in 0..<40 {
                    #expect(try await transport.deliver(DescriptorTests.requestToHost(number, of: server)).status == 200)
                }
                #expect(await transport.statistics.counts.idleConnections == 32)
                transport.close()
            }
        }

        @Test func `A connection that nobody uses makes room for one that is needed`() async {
            await #expect(processExitsWith: .success) {
                let server = try RawServer.ok()
                let transport = wireTransport()
                for number in 0..<4 { _ = try await transport.deliver(DescriptorTests.requestToHost(number, of: server)) }
                let taken = DescriptorTests.takeAll()
                #expect(try await transport.deliver(DescriptorTests.requestToHost(4, of: server)).status == 200)
                for descriptor in taken { close(descriptor) }
                #expect(await transport.statistics.counts.openConnections <= 4)
                transport.close()
            }
        }

        @Test func `A lack of descriptors isn't told as the proxy's failure`() async {
            await #expect(processExitsWith: .success) {
                let proxy = try RawServer.ok()
                let transport = wireTransport(configuration: TransportConfiguration(proxy: .http(proxy.url)))
                // Which makes its loop.
                _ = transport.executor
                let taken = DescriptorTests.takeAll()
                let error = await httpError { try await transport.deliver(request("http://h.invalid/", .buffered(upTo: 10))) }
                for descriptor in taken { close(descriptor) }
                #expect(error?.code == .connection && error?.isRefusedHere == true)
                transport.close()
            }
        }

        @Test func `One in the making that nobody waits for makes room for one that is needed`() async {
            await #expect(processExitsWith: .success) {
                let server = try RawServer.ok()
                // TLS never comes to stand.
                let silent = try RawServer { $0.waitForEnd() }
                let transport = wireTransport()
                for number in 0..<4 {
                    var secure = HTTPRequest("https://h\(number).invalid/")
                    secure.address = "127.0.0.1:\(silent.port)"
                    let call = Task { [secure] in try await transport.deliver(secure) }
                    await eventually { silent.accepted == number + 1 }
                    call.cancel()
                    _ = await call.result
                }
                let taken = DescriptorTests.takeAll()
                #expect(try await transport.deliver(DescriptorTests.requestToHost(0, of: server)).status == 200)
                for descriptor in taken { close(descriptor) }
                transport.close()
            }
        }

        @Test func `No connection makes room for a lookup that lacks a thread`() async throws {
            let server = try RawServer.ok()
            let day = Duration.seconds(86_400)
            let configuration = TransportConfiguration(connectTimeout: day, idleTimeout: nil, idleConnectionLifetime: day)
            let transport = wireTransport(WireSettings(configuration, lookup: HostLookup(start: { _ in EAGAIN })))
            for number in 0..<4 { _ = try await transport.deliver(Self.requestToHost(number, of: server)) }
            let error = await httpError { try await transport.deliver(request("http://h.invalid/", .buffered(upTo: 10))) }
            #expect(error?.isRefusedHere == true)
            #expect(await transport.statistics.counts.idleConnections == 4)
        }

        @Test func `A host isn't taken for gone when there is no descriptor to look it up with`() async {
            await #expect(processExitsWith: .success) {
                let lookup = HostLookup()
                let taken = DescriptorTests.takeAll()
                let found: HostLookup.Found = await withCheckedContinuation { continuation in
                    _ = lookup.find("localhost", port: 80) { continuation.resume(returning: $0) }
                }
                for descriptor in taken { close(descriptor) }
                let failure = #expect(throws: HTTPError.self) { try found.get() }
                #expect(failure?.isRefusedHere == true)
                let isKept = lookup.known("localhost", port: 80) != nil
                #expect(!isKept)
            }
        }

        @Test func `Authorities are looked for again when there was no descriptor to read them with`() async {
            await #expect(processExitsWith: .success) {
                // Has OpenSSL read what it reads once.
                _ = try TLSContext(TLSConfiguration(trustsSystemAuthorities: false))
                let time = Locked<UInt64>(0)
                let kept = KeptTLSContext(TLSConfiguration(), now: { time.withLock { $0 } })
                let taken = DescriptorTests.takeAll()
                let failure = #expect(throws: HTTPError.self) { try kept.current() }
                for descriptor in taken { close(descriptor) }
                #expect(failure?.isRefusedHere == true)
                time.withLock { $0 = 1_000_000_000 }
                _ = try kept.current()
            }
        }
    }
#endif
