import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

/// Messages that contradict themselves: whoever reads them otherwise may see another body, or another answer (RFC 9112 §§2–7). See
/// ``FaultTests`` for status lines, lengths and connections that end.
@Suite(.leavesNothing, .timeLimit(.minutes(10))) struct HostileMessageTests {
    struct Message: Sendable, CustomTestStringConvertible {
        let text: String
        let ability: Ability?

        var testDescription: String { text.debugDescription }

        init(_ text: String, _ ability: Ability? = nil) {
            self.text = text
            self.ability = ability
        }
    }

    private static let answer = "HTTP/1.1 200 OK\r\n"

    // MARK: Refused

    /// RFC 9112 §5.1: a field has a name, and its colon follows at once.
    private static let fields = [
        "Content-Length : 2\r\n", "X-A : 1\r\nContent-Length: 2\r\n", "X A: 1\r\nContent-Length: 2\r\n",
        ": nameless\r\nContent-Length: 2\r\n", "no colon\r\nContent-Length: 2\r\n", "X-A: a\0b\r\nContent-Length: 2\r\n",
    ].map { Message("\(answer)\($0)\r\nhi") }

    /// RFC 9112 §5.2: the first field continues none.
    private static let foldedBeginnings = [" X-A: folded\r\nContent-Length: 2\r\n", "\tContent-Length: 2\r\n"].map {
        Message("\(answer)\($0)\r\nhi", .strictFolding)
    }

    /// RFC 9112 §6.1: nothing but `chunked` was asked for.
    private static let transferCodings = [
        "Transfer-Encoding: gzip\r\n", "Transfer-Encoding: gzip, chunked\r\n",
        "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n", "Transfer-Encoding: odd\r\nContent-Length: 2\r\n",
    ].map { Message("\(answer)\($0)\r\nhi", .strictTransferCodings) }

    /// RFC 9110 §15.2.2: nobody asked for another protocol.
    private static let switches = ["", "Content-Length: 2\r\n", "Connection: Upgrade\r\nUpgrade: h2c\r\n"].map {
        Message("HTTP/1.1 101 Switching Protocols\r\n\($0)\r\nhi")
    }

    private static let lengths = ["+2", "2a", "0x2", "2 2", "2,"].map {
        Message("\(answer)Content-Length: \($0)\r\n\r\nhi", .strictContentLength)
    }

    @Test(arguments: TransportUnderTest.allCases, fields + foldedBeginnings + transferCodings + switches + lengths)
    func aHeadThatContradictsItselfIsRefused(transport: TransportUnderTest, message: Message) async throws {
        try await expect(message, isRefusedBy: transport, .maybeProcessed)
    }

    /// RFC 9112 §7.1: a chunk's size is nothing but hexadecimal digits.
    private static let chunks = [
        "-5\r\nhello\r\n", "+5\r\nhello\r\n", " 5\r\nhello\r\n", "\r\n5\r\nhello\r\n", ";\r\nhello\r\n",
        "5\r\nhello5\r\nhello\r\n",
    ]
    .map { Message("\(answer)Transfer-Encoding: chunked\r\n\r\n\($0)0\r\n\r\n") }

    @Test(arguments: TransportUnderTest.allCases, chunks)
    func aChunkWithoutASizeIsRefused(transport: TransportUnderTest, message: Message) async throws {
        try await expect(message, isRefusedBy: transport, .answered)
    }

    private func expect(_ message: Message, isRefusedBy transport: TransportUnderTest, _ progress: HTTPError.Phase) async throws {
        for delivery in Delivery.allCases {
            let server = try MockServer()
            defer { server.shutdown() }
            let client = transport.client()
            server.enqueue(.init(fault: .garbage([UInt8](message.text))), .init(body: "next"))
            try await needing(message.ability, of: transport) {
                await expectError(.protocolViolation, progress) {
                    try await delivery.send(HTTPRequest(server.url()), by: client)
                }
                let next = try await delivery.send(HTTPRequest(server.url()), by: client)
                #expect(next.text == "next")
            }
        }
    }

    // MARK: Taken

    @Test(
        arguments: TransportUnderTest.allCases,
        [
            // RFC 9112 §6.3, rule 3: chunks win.
            "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
            // §7.1.1: extensions are ignored. §7.1: so are zeros before a size.
            "Transfer-Encoding: chunked\r\n\r\n2;a=b;c=\"d;e\"\r\nhi\r\n0;f\r\n\r\n",
            "Transfer-Encoding: chunked\r\n\r\n0002\r\nhi\r\n000\r\n\r\n",
            // What is said twice is done once (RFC 9112 §6.1).
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
            "Transfer-Encoding: chunked, Chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
            // RFC 9110 §8.6: the same length several times is that length.
            "Content-Length: 2\r\nContent-Length: 2\r\n\r\nhi", "Content-Length: 2, 2\r\n\r\nhi", "Content-Length: 002\r\n\r\nhi",
        ])
    func whatIsOnlyOddIsTaken(transport: TransportUnderTest, rest: String) async throws {
        for delivery in Delivery.allCases {
            let server = try MockServer()
            defer { server.shutdown() }
            server.enqueue(.init(fault: .garbage([UInt8]("\(Self.answer)\(rest)"))))
            #expect(try await delivery.send(HTTPRequest(server.url()), by: transport.client()).text == "hi")
        }
    }

    /// RFC 9112 §5.2.
    @Test(arguments: TransportUnderTest.allCases)
    func aFoldedFieldIsOneField(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        let text = "\(Self.answer)X-A: a\r\n b\r\n\tc\r\nContent-Length: 2\r\n\r\nhi"
        server.enqueue(.init(fault: .garbage([UInt8](text))))
        let received = try await Delivery.buffered.send(HTTPRequest(server.url()), by: transport.client())
        #expect(received.headers["X-A"]?.split(separator: " ") == ["a", "b", "c"])
        #expect(received.text == "hi")
    }

    /// What is sent after an answer is none (RFC 9112 §9.2), though it looks like one.
    @Test(arguments: TransportUnderTest.allCases, Delivery.allCases)
    func aSecondAnswerAnswersNothing(transport: TransportUnderTest, delivery: Delivery) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        let smuggled = "\(Self.answer)Content-Length: 8\r\n\r\nsmuggled"
        for first in [
            "\(Self.answer)Content-Length: 2\r\n\r\nhi", "\(Self.answer)Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
        ] {
            server.enqueue(.init(fault: .garbage([UInt8](first + smuggled))), .init(body: "next"))
            let client = transport.client()
            #expect(try await delivery.send(HTTPRequest(server.url()), by: client).text == "hi")
            #expect(try await delivery.send(HTTPRequest(server.url()), by: client).text == "next")
        }
    }
}
