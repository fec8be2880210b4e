#if os(Linux)
    import Foundation
    import Interception
    import MidstreamCore
    import MidstreamLoop
    import TestSupport
    import Testing

    /// Heads and trailers that no honest server sends.
    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct HostileHeadTests {
        private let transport = testedTransport()

        /// libcurl before 8.1.0 writes through a pointer that the answer before it has left behind.
        @Test func `A head that begins with a folded line leaves the memory whole`() async throws {
            await #expect(processExitsWith: .success) {
                let folded = "HTTP/1.1 200 OK\r\n folded: \(String(repeating: "y", count: 3_000))\r\nContent-Length: 0\r\n\r\n"
                let server = try RawServer.answering { request in
                    request.lines[0].contains("/folded")
                        ? folded : "HTTP/1.1 200 OK\r\nX-Field: aaaaaaaa\r\nContent-Length: 0\r\n\r\n"
                }
                let other = try RawServer.answering { _ in folded }
                let transport = testedTransport()
                for round in 0..<40 {
                    #expect(try await transport.deliver(HTTPRequest(server.url)).status == 200)
                    let url = round.isMultiple(of: 2) ? other.url : "\(server.url)/folded"
                    let error = await #expect(throws: HTTPError.self) { try await transport.deliver(HTTPRequest(url)) }
                    #expect(error?.code == .protocolViolation)
                }
            }
        }

        /// What libcurl 8.23.0 notes of a line that may go on is still noted when its handle has the next response.
        @Test(arguments: ["X-A: b\r\n\t", "X-A: b\r\n c\r\n\t", "X-A: b\r\n c"])
        func `A head that breaks off in a folded line leaves the next response as it is`(_ end: String) async throws {
            let broken = try RawServer { connection in
                if connection.readHead() != nil { connection.write(Array("HTTP/1.1 200 OK\r\n\(end)".utf8)) }
            }
            let server = try RawServer.ok()
            for _ in 0..<3 {
                await #expect(throws: HTTPError.self) { try await transport.deliver(HTTPRequest(broken.url)) }
                #expect(try await transport.deliver(HTTPRequest(server.url)).body.collect() == Array("ok".utf8))
            }
        }

        struct Head: Sendable, CustomTestStringConvertible {
            let fields: String
            var testDescription: String { fields.prefix(40).debugDescription }

            init(_ fields: String) { self.fields = fields }
        }

        static let violations = [
            Head(" folded: a\r\nContent-Length: 2\r\n"),
            Head("\tfolded: a\r\nContent-Length: 2\r\n"),
            Head("Content-Length: +2\r\n"),
            Head("Content-Length: 2a\r\n"),
            Head("Content-Length:\r\n"),
            Head("Content-Length : 2\r\n"),
            Head("Content-Length\t: 2\r\n"),
            Head("X-A : 1\r\nContent-Length: 2\r\n"),
            Head("X A: 1\r\nContent-Length: 2\r\n"),
            Head(": nameless\r\nContent-Length: 2\r\n"),
            Head("no colon\r\nContent-Length: 2\r\n"),
            Head("Content-Length: 2\r\nContent-Length: 3\r\n"),
            Head("Content-Length: 2, 3\r\n"),
            Head("Transfer-Encoding: gzip\r\n"),
            Head("Transfer-Encoding: gzip, chunked\r\n"),
            Head("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n"),
            Head("Transfer-Encoding: \"chunked\"\r\n"),
            Head("Transfer-Encoding: x-odd\r\nContent-Length: 2\r\n"),
            Head(String(repeating: "X-A: b\r\n", count: 1_001) + "Content-Length: 2\r\n"),
        ]

        @Test(arguments: violations, deliveries)
        func `What contradicts itself is refused`(_ head: Head, _ delivery: BodyDelivery) async throws {
            let server = try RawServer { connection in
                _ = connection.readHead()
                connection.write("HTTP/1.1 200 OK\r\n\(head.fields)\r\nab")
            }
            let error = await httpError { try await transport.deliver(request(server.url, delivery)).body.collect() }
            #expect(error?.code == .protocolViolation, "\(error as Any)")
            #expect(error?.phase == .maybeProcessed)
        }

        @Test func `What is only odd is taken`() async throws {
            let thousand = String(repeating: "X-A: b\r\n", count: 999)
            for fields in [
                "Content-Length: 2\r\nContent-Length: 2\r\n", "Content-Length: 2, 2\r\n", "Content-Length:2\r\n",
                "Content-Length:\t 2 \t\r\n", "Transfer-Encoding: \r\nContent-Length: 2\r\n",
                "Content-Length: 2\r\nTransfer-Encoding: ,\r\n",
                "X-A: a\r\n b\r\nContent-Length: 2\r\n", "\(thousand)Content-Length: 2\r\n",
            ] {
                let server = try RawServer { connection in
                    repeat {
                        guard connection.readHead() != nil else { return }
                        connection.write("HTTP/1.1 200 OK\r\n\(fields)\r\nab")
                        // With a coding that isn't chunked, libcurl reads to the end of the connection.
                    } while !fields.contains("Transfer-Encoding")
                }
                let response = try await transport.deliver(request(server.url, .buffered(upTo: 10)))
                #expect(response.body.bytes == Array("ab".utf8), "\(fields)")
            }
        }

        @Test(arguments: deliveries, ["no colon\r\n", ": nameless\r\n", "X-Sum : 1\r\n", " folded\r\n"])
        func `Trailers are held to the same rules`(_ delivery: BodyDelivery, _ trailers: String) async throws {
            for trailers in [trailers, String(repeating: "X-Sum: 1\r\n", count: 1_001)] {
                let server = try RawServer.answering { _ in
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\(trailers)\r\n"
                }
                let error = await httpError { try await transport.deliver(request(server.url, delivery)).body.collect() }
                #expect(error?.code == .protocolViolation, "\(error as Any)")
                #expect(error?.phase == .answered)
            }
        }

        @Test func `Interim heads come to an end`() async throws {
            let server = try RawServer { connection in
                _ = connection.readHead()
                while connection.write("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n") {}
            }
            let error = await #expect(throws: HTTPError.self) { try await transport.deliver(HTTPRequest(server.url)) }
            #expect(error?.code == .protocolViolation)
        }

        @Test(arguments: [
            ("HTTP/1.1 200 OK\r\nHTTP/x: HTTP/1.1 404 Not Found\r\n", 200), ("HTTP/1.1 200 OK\r\nHTTP/x: 404\r\n", 200),
            ("HTTP/1.1  201 Created\r\n", 201), ("HTTP/1.1 202\r\n", 202),
            ("HTTP/1.1 103 Early\r\nHTTP/x: 404\r\n\r\nHTTP/1.1  203 Fine\r\n", 203),
        ])
        func `The status is that of the status line`(_ head: String, _ status: Int) async throws {
            let server = try RawServer.answering { _ in "\(head)Content-Length: 2\r\n\r\nab" }
            let response: HTTPResponse
            do {
                response = try await transport.deliver(request(server.url, .buffered(upTo: 10)))
            } catch let error as HTTPError where head.contains("  ") {
                // Wire, and newer versions of curl, insist on one space (RFC 9112 §4).
                return #expect(error.code == .protocolViolation)
            }
            #expect(response.status.code == status)
            #expect(response.version == .http1_1)
            #expect(response.body.bytes == Array("ab".utf8))
        }

        @Test(arguments: deliveries, ["", "Content-Length: 2\r\n", "Upgrade: h2c\r\nConnection: Upgrade\r\n"])
        func `A protocol isn't switched unasked`(_ delivery: BodyDelivery, _ fields: String) async throws {
            let server = try RawServer { connection in
                _ = connection.readHead()
                connection.write("HTTP/1.1 101 Switching Protocols\r\n\(fields)\r\nab")
                connection.waitForEnd()
            }
            let error = await httpError { try await transport.deliver(request(server.url, delivery)).body.collect() }
            #expect(error?.code == .protocolViolation, "\(error as Any)")
            #expect(error?.phase == .maybeProcessed)
        }
    }
#endif
