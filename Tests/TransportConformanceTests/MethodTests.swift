import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite(.leavesNothing, .timeLimit(.minutes(10))) struct MethodTests {
    private static let methods: [HTTPMethod] = [
        .get, .head, .post, .put, .patch, .delete, .options, "TRACE", "PROPFIND", "M-SEARCH", "QUERY", "X!#$%&'*+-.^_`|~9",
    ]

    @Test(arguments: TransportUnderTest.allCases, methods)
    func aMethodArrivesAsItIs(transport: TransportUnderTest, method: HTTPMethod) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init(body: "answer"))
        let response = try await transport.client().send(HTTPRequest(method, server.url("/path")))
        #expect(response.status == .ok)
        #expect(response.body.bytes == (method == .head ? [] : [UInt8]("answer")))
        let request = try await server.takeRequest()
        #expect(request.method == method)
        #expect(request.body.isEmpty)
        #expect(!request.headers.contains(.transferEncoding))
        #expect(!request.headers.contains(.contentType))
        #expect(!request.headers.contains(.expect))
    }

    /// RFC 9110 §8.6: a method that has a meaning for content says that there is none.
    @Test(arguments: TransportUnderTest.allCases, [HTTPMethod.post, .put, .patch])
    func aMethodThatUsuallyHasABodySaysThatThereIsNone(transport: TransportUnderTest, method: HTTPMethod) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init())
        _ = try await transport.client().send(HTTPRequest(method, server.url()))
        #expect(try await server.takeRequest().headers[.contentLength] == "0")
    }

    @Test(arguments: TransportUnderTest.allCases, [HTTPMethod.get, .head])
    func aMethodWithoutABodySaysNothingAboutIt(transport: TransportUnderTest, method: HTTPMethod) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init())
        _ = try await transport.client().send(HTTPRequest(method, server.url()))
        #expect(try await !server.takeRequest().headers.contains(.contentLength))
    }

    @Test(arguments: TransportUnderTest.allCases, [HTTPMethod.post, .put, .patch, .delete, .options, "PROPFIND"])
    func anyOfTheseMethodsMayHaveABody(transport: TransportUnderTest, method: HTTPMethod) async throws {
        try await expectBodyArrives(with: method, on: transport)
    }

    @Test(arguments: TransportUnderTest.allCases) func aGetMayHaveABody(transport: TransportUnderTest) async throws {
        try await needing(.bodyWithGet, of: transport) { try await expectBodyArrives(with: .get, on: transport) }
    }

    /// RFC 9110 §9.1: the method is case-sensitive.
    @Test(arguments: TransportUnderTest.allCases) func theCaseOfAMethodIsKept(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init())
        try await needing(.caseOfMethods, of: transport) {
            _ = try await transport.client().send(HTTPRequest(HTTPMethod(rawValue: "Get"), server.url()))
            #expect(try await server.takeRequest().method.rawValue == "Get")
        }
    }

    @Test(arguments: TransportUnderTest.allCases, ["", "G T", "GET /x HTTP/1.1\r\nX: y\r\n", "GÉT", "CONNECT"])
    func whatIsNoMethodForARequestIsRefused(transport: TransportUnderTest, method: String) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        let transport = transport.make()
        await expectError(.invalidRequest, .notSent) {
            try await transport.send(HTTPRequest(HTTPMethod(rawValue: method), server.url()))
        }
        #expect(server.connectionCount == 0)
    }

    @Test(arguments: TransportUnderTest.allCases, [HTTPMethod.head, .trace])
    func aBodyIsRefusedWithTheseMethods(transport: TransportUnderTest, method: HTTPMethod) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        let transport = transport.make()
        await expectError(.invalidRequest, .notSent) {
            try await transport.send(HTTPRequest(method, server.url(), body: .text("x")))
        }
        #expect(server.connectionCount == 0)
    }

    private func expectBodyArrives(with method: HTTPMethod, on transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init(body: "answer"))
        let response = try await transport.client().send(HTTPRequest(method, server.url(), body: .bytes([UInt8]("question"))))
        #expect(response.body.bytes == [UInt8]("answer"))
        let request = try await server.takeRequest()
        #expect(request.method == method)
        #expect(request.text == "question")
        #expect(request.headers[.contentLength] == "8")
    }
}
