#if os(Linux)
    import Foundation
    import MidstreamCore
    import MidstreamTransport
    import TestSupport
    import Testing

    @testable import MidstreamWire

    /// Against the real servers that `Scripts/with-servers` starts.
    @Suite(.leavesNothing, .enabled(if: Servers.areRunning, "run by Scripts/with-servers"), .timeLimit(.minutes(10)))
    struct KeyLogTests {
        private let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder() }

        private func transport(_ path: String) -> WireTransport {
            var tls = TLSConfiguration(authorities: .file(Servers["CA"]))
            tls = tls.keyLog(to: path)
            return wireTransport(configuration: TransportConfiguration(tls: tls, keepsConnections: false))
        }

        private func lines(_ path: String) throws -> [Substring] {
            try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        }

        @Test func `Secrets are added for the file's owner alone`() async throws {
            let path = folder.url.path + "/keys"
            try "CLIENT_RANDOM 00 00\n".write(toFile: path, atomically: false, encoding: .utf8)
            chmod(path, 0o644)
            let transport = transport(path)
            let url = Servers["NGINX_HTTPS"] + "/hello"
            _ = try await transport.deliver(request(url, .buffered(upTo: 10)))
            var status = stat()
            #expect(stat(path, &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600)
            let first = try lines(path)
            #expect(first.first == "CLIENT_RANDOM 00 00")
            #expect(first.contains { $0.hasPrefix("CLIENT_TRAFFIC_SECRET_0 ") })
            _ = try await transport.deliver(request(url, .buffered(upTo: 10)))
            #expect(try lines(path).count > first.count)
        }

        @Test func `A file that can't be written fails every request`() async throws {
            let link = folder.url.path + "/link"
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder.url.path + "/elsewhere")
            for path in [folder.url.path + "/none/keys", folder.url.path, link] {
                let error = await #expect(throws: HTTPError.self) {
                    _ = try await transport(path).deliver(request(Servers["NGINX_HTTPS"] + "/hello", .buffered(upTo: 10)))
                }
                #expect(error?.code == .tls)
            }
        }
    }

    @Suite(.leavesNothing, .timeLimit(.minutes(10)))
    struct KeyLogFileTests {
        private let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder() }

        @Test func `What is no regular file is refused, and keeps its permissions`() throws {
            let path = folder.url.path + "/pipe"
            try #require(mkfifo(path, 0o600) == 0)
            chmod(path, 0o622)
            // Without it there would be somebody to wait for.
            let reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
            defer { close(reader) }
            let error = #expect(throws: HTTPError.self) { try KeyLog(path) }
            #expect(error?.code == .tls && error?.description.contains("no regular file") == true)
            var status = stat()
            #expect(stat(path, &status) == 0)
            #expect(status.st_mode & 0o777 == 0o622)
        }
    }
#endif
