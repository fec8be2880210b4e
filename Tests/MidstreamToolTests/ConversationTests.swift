#if Wire && os(Linux)
    import Foundation
    import Interception
    import Midstream
    import MidstreamTesting
    import MidstreamWebSocket
    import TestSupport
    import Testing

    @testable import MidstreamTool

    @Suite("A socket on the command line", .leavesNothing, .timeLimit(.minutes(10)), .enabled(if: Tool.path != nil))
    struct ConversationTests {
        private let server: MockServer

        init() throws { server = try MockServer() }

        /// What comes of a line for the shell, with the tool as `$m` and the server's host and port as `$h`.
        private func run(_ line: String) async throws -> ChildProcess {
            let setting = "m=\(try #require(Tool.path)) h=127.0.0.1:\(server.port)"
            return try await ChildProcess.run("/bin/sh", ["-c", "\(setting)\n\(line)"])
        }

        /// A conversation whose input is over, on a clock.
        private func conversation(on clock: TestClock) throws -> Task<Int32, any Error> {
            var configuration = HTTPClient.Configuration()
            configuration.clock = clock
            configuration.timeout = nil
            let client = testClient(baseURL: server.url(), configuration: configuration, transport: wireTransport())
            let input = try #require(FileHandle(forReadingAtPath: "/dev/null"))
            let conversation = Conversation(socket: client.webSocket("feed"), showsTrace: false, input: input)
            return Task { try await conversation.run() }
        }

        /// What a conversation ends with whose server closes in order at the first line, and reads nothing more.
        private func closedAtOnce(_ input: FileHandle) async throws -> Int32 {
            let stub = StubTransport { request in
                .webSocket(answering: request) { socket in
                    _ = try await socket.next()
                    try await socket.close(1001, "restart")
                }
            }
            let client = testClient(baseURL: "https://a.example", transport: stub)
            return try await Conversation(socket: client.webSocket("feed"), showsTrace: false, input: input).run()
        }

        @Test("Lines go there and back over a ws URL, with a token, until the input ends")
        func lines() async throws {
            let ends = Locked<[MockWebSocket.Event]>([])
            server.respond(webSocket: { socket in
                while let event = try await socket.next() {
                    switch event {
                    case .text(let text): try await socket.send(text)
                    case .ping(let payload): try await socket.pong(payload)
                    default:
                        ends.withLock { $0.append(event) }
                        return try await socket.close()
                    }
                }
            })
            let child = try await run(
                "(echo one; echo two) | timeout 60 $m ws ws://$h/feed --bearer T --transport wire")
            #expect(child.status == .exited(0) && child.text == "one\ntwo\n", "\(child.errorText)")
            #expect(server.requests.map(\.path) == ["/feed"])
            #expect(server.requests.first?.headers[.authorization] == "Bearer T")
            #expect(ends.withLock { $0 } == [.close(1000, "")])
        }

        @Test("A server that answers no ping is told all the same that the input is over")
        func withoutPongs() async throws {
            let pinged = Gate()
            let ends = Locked<[MockWebSocket.Event]>([])
            server.respond(webSocket: { socket in
                while let event = try await socket.next() {
                    switch event {
                    case .close:
                        ends.withLock { $0.append(event) }
                        return try await socket.close()
                    default: pinged.open()
                    }
                }
            })
            let clock = TestClock()
            let run = try conversation(on: clock)
            await pinged.wait()
            await clock.waitForSleepers(1)
            clock.advance(by: .seconds(10))
            #expect(try await run.value == 0)
            #expect(ends.withLock { $0 } == [.close(1000, "")])
        }

        @Test("A server that doesn't answer the closing either may have seen nothing: a failure")
        func withoutAnyAnswer() async throws {
            let (pinged, closed) = (Gate(), Gate())
            server.respond(webSocket: { socket in
                while let event = try await socket.next() {
                    if case .close = event { closed.open() } else { pinged.open() }
                }
            })
            let clock = TestClock()
            let run = try conversation(on: clock)
            await pinged.wait()
            await clock.waitForSleepers(1)
            clock.advance(by: .seconds(10))
            await closed.wait()
            await clock.waitForSleepers(1)
            clock.advance(by: .seconds(5))
            let error = await #expect(throws: HTTPError.self) { try await run.value }
            #expect(error?.code == .timeout)
        }

        @Test("A server from which anything comes is pinged anew before it is told that the input is over")
        func busy() async throws {
            let (heard, pingedAnew) = (Gate(), Gate())
            let ends = Locked<[MockWebSocket.Event]>([])
            server.respond(webSocket: { socket in
                var pings = 0
                while let event = try await socket.next() {
                    switch event {
                    case .ping:
                        pings += 1
                        // No answer to it, but something that shows life.
                        if pings == 1 { try await socket.ping([1]) } else { pingedAnew.open() }
                    case .pong([1]): try await socket.ping([2])
                    // What came before this one was answered is counted.
                    case .pong: heard.open()
                    default:
                        ends.withLock { $0.append(event) }
                        pingedAnew.open()
                        return try await socket.close()
                    }
                }
            })
            let clock = TestClock()
            let run = try conversation(on: clock)
            await heard.wait()
            await clock.waitForSleepers(1)
            clock.advance(by: .seconds(10))
            await pingedAnew.wait()
            try #require(ends.withLock { $0.isEmpty })
            await clock.waitForSleepers(1)
            clock.advance(by: .seconds(10))
            #expect(try await run.value == 0)
            #expect(ends.withLock { $0 } == [.close(1000, "")])
        }

        @Test("A server that closes before all of the input was sent has missed some of it: a failure")
        func closedEarly() async throws {
            let folder = try TemporaryFolder()
            defer { withExtendedLifetime(folder) {} }
            // More than what lies between the two holds.
            let line = String(repeating: "a", count: 1_000) + "\n"
            let input = try FileHandle(forReadingFrom: folder.file(Array(String(repeating: line, count: 1_000).utf8)))
            let error = await #expect(throws: HTTPError.self) { try await closedAtOnce(input) }
            #expect(error?.code == .connectionLost && error?.message.contains("on wasn't sent") == true)
            #expect((error?.underlying as? WebSocketClosure)?.reason == "restart")
        }

        @Test("The reason that a server gives for its closing follows the failure, its control characters escaped")
        func reason() async throws {
            server.respond(webSocket: { socket in
                try await socket.close(4003, "bye\u{1B}[2J")
                while try await socket.next() != nil {}
            })
            let child = try await run("timeout 60 $m ws $h/feed --transport wire < /dev/null")
            #expect(child.status == .exited(1) && child.errorText.contains("4003"), "\(child.errorText)")
            #expect(child.errorText.contains("bye\\u{1B}[2J\n"), "\(child.errorText)")
        }

        @Test("An input that is at rest isn't waited for once the server has closed")
        func closedAtRest() async throws {
            let pipe = Pipe()
            try pipe.fileHandleForWriting.write(contentsOf: Data("one\n".utf8))
            #expect(try await closedAtOnce(pipe.fileHandleForReading) == 0)
            try pipe.fileHandleForWriting.close()
        }

        @Test("Where no more of an input is waited for, what is there already still comes")
        func inputAtHand() async throws {
            let pipe = Pipe()
            try pipe.fileHandleForWriting.write(contentsOf: Data("one\n".utf8))
            var bytes: [UInt8] = []
            for try await chunk in InputChunks(file: pipe.fileHandleForReading, isImpatient: { true }) { bytes += chunk }
            #expect(bytes == Array("one\n".utf8))
            try pipe.fileHandleForWriting.close()
        }

        @Test("Its upgrade can be traced, and bytes are written as they are")
        func bytes() async throws {
            server.respond(webSocket: { socket in
                try await socket.send([0, 0xFF, 0x0A])
                try await socket.echo()
            })
            let child = try await run("timeout 60 $m ws $h/feed --trace --transport wire < /dev/null")
            #expect(child.status == .exited(0) && child.output == [0, 0xFF, 0x0A], "\(child.errorText)")
            #expect(child.errorText.contains("→ 101"))
        }

        @Test("An answer that opens no socket is a failure, whatever it says", arguments: [200, 302])
        func refused(code: Int) async throws {
            server.respond { _ in .init(status: HTTPStatus(code)) }
            let child = try await run("timeout 60 $m ws $h/feed --no-redirects --transport wire < /dev/null")
            #expect(child.status == .exited(1) && child.errorText.contains("unacceptableStatus"), "\(child.errorText)")
        }

        @Test("What would be asked is shown, and not sent")
        func shown() async throws {
            let explained = try await run("$m ws $h/feed --explain")
            #expect(explained.status == .exited(0) && explained.text.contains("Upgrade: websocket"), "\(explained.errorText)")
            let command = try await run("$m ws http://$h/feed A:b --curl")
            #expect(command.status == .exited(0) && command.text == "curl --header 'A: b' ws://127.0.0.1:\(server.port)/feed\n")
            #expect(server.requestCount == 0)
        }
    }
#endif
