import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite(.leavesNothing, .timeLimit(.minutes(10))) struct HeaderTests {
    private static let oddValues = [
        "plain", "with  inner   spaces", "a\tb", "\"quoted, with comma\"", "a,b, c", "; = @ ( ) < > [ ] { } \\ / ?", "%0D%0A",
        "é in UTF-8, 漢字", "x:y", "'", String(repeating: "v", count: 20_000),
    ]

    // MARK: On the way out

    @Test(arguments: TransportUnderTest.allCases, oddValues)
    func anOddValueIsSentAsItIs(transport: TransportUnderTest, value: String) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init())
        _ = try await transport.client().send(HTTPRequest(server.url(), headers: ["X-Odd": value]))
        #expect(try await server.takeRequest().headers.values("X-Odd") == [value])
    }

    @Test(arguments: TransportUnderTest.allCases) func anEmptyValueIsSent(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init())
        try await needing(.emptyRequestFields, of: transport) {
            _ = try await transport.client().send(HTTPRequest(server.url(), headers: ["X-Empty": "", "X-Full": "a"]))
            let request = try await server.takeRequest()
            #expect(request.headers.values("X-Empty") == [""])
            #expect(request.headers.values("X-Full") == ["a"])
        }
    }

    @Test(arguments: TransportUnderTest.allCases) func anOddNameIsSentAsItIs(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init())
        let names = ["x!#$%&'*+-.^_`|~9", "x-lower", "X-MiXeD", "x", String(repeating: "n", count: 200)]
        var request = HTTPRequest(server.url())
        for name in names { request.headers.add(HTTPHeaders.Name(name), name) }
        _ = try await transport.client().send(request)
        let sent = try await server.takeRequest().headers
        for name in names {
            #expect(sent.values(HTTPHeaders.Name(name)) == [name])
        }
        try await needing(.caseOfFieldNames, of: transport) {
            for name in names { #expect(sent.contains { $0.name.rawValue == name }) }
        }
    }

    @Test(arguments: TransportUnderTest.allCases)
    func fieldsOfOneNameKeepTheirOrder(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init())
        var request = HTTPRequest(server.url())
        for value in ["1", "2", "3"] { request.headers.add("X-Many", value) }
        _ = try await transport.client().send(request)
        #expect(try await server.takeRequest().headers["X-Many"] == "1, 2, 3", "One line or several: RFC 9110 §5.3.")
    }

    @Test(arguments: TransportUnderTest.allCases)
    func fieldsKeepTheirOrderAndTheirNumber(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init())
        try await needing(.orderOfRequestFields, of: transport) {
            var request = HTTPRequest(server.url())
            let fields = [("X-B", "1"), ("X-A", "2"), ("X-B", "3"), ("X-C", "4"), ("X-A", "5")]
            for (name, value) in fields { request.headers.add(HTTPHeaders.Name(name), value) }
            _ = try await transport.client().send(request)
            let sent = try await server.takeRequest().headers.filter { $0.name.rawValue.hasPrefix("X-") }
            #expect(sent.map { "\($0.name.rawValue)=\($0.value)" } == fields.map { "\($0)=\($1)" })
        }
    }

    @Test(arguments: TransportUnderTest.allCases)
    func bytesThatAreNoUTF8AreSentBackAsTheyCame(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init(fault: .garbage([UInt8]("HTTP/1.1 200 OK\r\nX-Name: caf") + [0xe9] + [UInt8]("\r\n\r\n"))), .init())
        let client = transport.client()
        try await needing(.bytesThatAreNoUTF8, of: transport) {
            let first = try await client.send(HTTPRequest(server.url()))
            #expect(first.headers["X-Name"] == "café", "What isn't UTF-8 is read as ISO 8859-1.")
            _ = try await server.takeRequest()
            _ = try await client.send(HTTPRequest(server.url(), headers: first.headers))
            // The server reads it the same way, which it wouldn't if it had come as UTF-8 of something else.
            #expect(try await server.takeRequest().headers["X-Name"] == "café")
        }
    }

    @Test(arguments: TransportUnderTest.allCases)
    func nothingIsAddedThatTheRequestDidNotAskFor(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init())
        let transport = transport.make()
        _ = try await transport.send(HTTPRequest(server.url(), headers: ["X-Own": "1"]))
        let names = Set(try await server.takeRequest().headers.map { $0.name.rawValue.lowercased() })
        let usual: Set = ["host", "x-own", "accept-encoding", "user-agent", "accept", "accept-language", "connection"]
        #expect(names.isSubset(of: usual), "\(names.subtracting(usual))")
    }

    @Test(
        arguments: TransportUnderTest.allCases,
        [("X-A", "a\r\nX-B: b"), ("X-A", "a\nb"), ("X-A", "a\u{0}b"), ("X A", "a"), ("X:A", "a"), ("", "a"), ("X-A\r\nX-B", "b")])
    func aFieldDoesNotReachIntoTheHead(transport: TransportUnderTest, field: (name: String, value: String)) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        var request = HTTPRequest(server.url())
        request.headers.add(HTTPHeaders.Name(field.name), field.value)
        let transport = transport.make()
        await expectError(.invalidRequest, .notSent) { try await transport.send(request) }
        #expect(server.connectionCount == 0)
    }

    @Test(arguments: TransportUnderTest.allCases) func manyFieldsAreSent(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init())
        var request = HTTPRequest(server.url())
        for number in 0..<500 { request.headers.add(HTTPHeaders.Name("X-\(number)"), "\(number)") }
        _ = try await transport.client().send(request)
        let sent = try await server.takeRequest().headers
        for number in 0..<500 { #expect(sent[HTTPHeaders.Name("X-\(number)")] == "\(number)") }
    }

    // MARK: On the way back

    @Test(arguments: TransportUnderTest.allCases, oddValues + [""])
    func anOddValueArrivesAsItIs(transport: TransportUnderTest, value: String) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init(headers: ["X-Odd": value]))
        let response = try await transport.client().send(HTTPRequest(server.url()))
        #expect(response.headers.values("X-Odd") == [value])
        #expect(response.headers.values("x-oDD") == [value], "Names are compared without case.")
    }

    @Test(arguments: TransportUnderTest.allCases)
    func severalCookiesStaySeparate(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        let cookies = ["a=1; Path=/; Expires=Wed, 09 Jun 2032 10:18:14 GMT", "b=2", "c=\"x,y\"; HttpOnly"]
        var headers = HTTPHeaders()
        for cookie in cookies { headers.add(.setCookie, cookie) }
        server.enqueue(.init(headers: headers), .init())
        let client = transport.client()
        #expect(try await client.send(HTTPRequest(server.url())).headers.values(.setCookie) == cookies)
        _ = try await server.takeRequest()
        _ = try await client.send(HTTPRequest(server.url()))
        #expect(try await !server.takeRequest().headers.contains(.cookie), "A transport keeps no cookies.")
    }

    @Test(arguments: TransportUnderTest.allCases)
    func receivedFieldsKeepTheirOrderAndTheirNumber(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        let fields = [("X-B", "1"), ("X-A", "2"), ("X-B", "3"), ("X-C", "4"), ("X-A", "5")]
        var headers = HTTPHeaders()
        for (name, value) in fields { headers.add(HTTPHeaders.Name(name), value) }
        server.enqueue(.init(headers: headers))
        let response = try await transport.client().send(HTTPRequest(server.url()))
        #expect(response.headers["X-B"]?.filter { $0 != " " } == "1,3")
        try await needing(.orderOfResponseFields, of: transport) {
            let received = response.headers.filter { $0.name.rawValue.hasPrefix("X-") }
            #expect(received.map { "\($0.name.rawValue)=\($0.value)" } == fields.map { "\($0)=\($1)" })
        }
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aHeadWithLiberalSpacingIsRead(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        let head = "HTTP/1.1 200 OK\r\nX-None:a\r\nX-Some:  \t b \t \r\nContent-Length:2\r\n\r\nhi"
        server.enqueue(.init(fault: .garbage([UInt8](head))))
        try await needing(.liberalSpacing, of: transport) {
            let response = try await transport.client().send(HTTPRequest(server.url()))
            #expect(response.headers["X-None"] == "a")
            #expect(response.headers["X-Some"] == "b")
            #expect(response.body.bytes == [UInt8]("hi"))
        }
    }

    @Test(arguments: TransportUnderTest.allCases) func manyFieldsArrive(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        var headers = HTTPHeaders()
        for number in 0..<500 { headers.add(HTTPHeaders.Name("X-\(number)"), "\(number)") }
        server.enqueue(.init(headers: headers))
        let received = try await transport.client().send(HTTPRequest(server.url())).headers
        for number in 0..<500 { #expect(received[HTTPHeaders.Name("X-\(number)")] == "\(number)") }
    }
}
