#if os(Linux)
    import Foundation
    import Glibc
    import MidstreamCore
    import MidstreamLoop
    import MidstreamTransport
    import MidstreamWire
    import TestSupport
    import Testing

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

        /// In a process of its own, since those of other tests would be taken for the transport's.
        @Test func `A program that is started inherits nothing of a transport`() async {
            await #expect(processExitsWith: .success) {
                let folder = try TemporaryFolder()
                let secrets = folder.url.path + "/secrets"
                let server = try RawServer.answering { _ in "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" }
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
    }
#endif
