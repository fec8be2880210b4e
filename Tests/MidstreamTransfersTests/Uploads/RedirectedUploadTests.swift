import Midstream
import MidstreamTesting
import TestSupport
import Testing

@Suite("Uploads that are redirected", .leavesNothing, .timeLimit(.minutes(10)))
struct RedirectedUploadTests {
    private func client() -> HTTPClient { testClient(configuration: .init(random: { 0 })) }

    @Test("A page in place of an answer is no success", arguments: ["POST", "PATCH"], [UploadProtocol.resumable, .tus])
    func page(method: String, kind: UploadProtocol) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.respond { request in
            if request.path == "/login" { return .init(body: "Please log in.") }
            if request.method.rawValue == method { return .init(status: 303, headers: ["Location": "/login"]) }
            return .init(status: 201, headers: ["Location": "/1", "Upload-Offset": "0", "Upload-Complete": "?0"])
        }
        let error = await httpError { try await client().upload(.bytes([1, 2, 3]), to: server.url(), protocol: kind) }
        #expect(error?.code == .unacceptableStatus && error?.response?.body.text == "Please log in.")
        #expect(server.requests.map(\.method.rawValue) == (method == "POST" ? ["POST", "GET"] : ["POST", "PATCH", "GET"]))
    }

    @Test("The final response says where the upload is, since an interim one may be of another server")
    func place() async throws {
        let place = try MockServer()
        place.enqueue(
            .init(
                status: 201, headers: ["Location": "/1", "Upload-Offset": "1", "Upload-Complete": "?0"],
                interim: [.init(status: 104, headers: ["Location": "/1"])]),
            .init(headers: ["Upload-Complete": "?1"]))
        let server = try MockServer()
        server.enqueue(.init(status: 307, headers: ["Location": place.url("/uploads")]))
        try await client().upload(.bytes([1, 2]), to: server.url(), partSize: 1)
        #expect(place.requests.map(\.path) == ["/uploads", "/1"])
        #expect(place.requests.map(\.body) == [[1], [2]])
        #expect(server.requests.count == 1)
    }

    @Test("The place that an interim response tells is relative to the URL that it answers")
    func interimPlace() async throws {
        let content = FileServer.content(300_000)
        let place = try UploadServer(.init(cuts: [100_000]))
        let server = try MockServer()
        defer { server.shutdown() }
        server.respond { request in
            request.method == .post ? .init(status: 307, headers: ["Location": place.url]) : .init(status: 404)
        }
        try await client().upload(.bytes(content), to: server.url())
        #expect(place.requests.map(\.method) == ["POST", "HEAD", "PATCH"])
        #expect(place.content == content)
        #expect(server.requests.count == 1)
    }

    @Test("A success confirms nothing of what only the redirect before it has got", arguments: [HTTPMethod.post, .patch])
    func unread(method: HTTPMethod) async throws {
        let stub = StubTransport { request in
            if request.urlText == "http://a.test/b" { return HTTPResponse(status: .ok, request: request) }
            _ = try await request.body.collect()
            if request.method == method {
                return HTTPResponse(status: 307, headers: ["Location": "/b"], request: request)
            }
            return HTTPResponse(
                status: .created, headers: ["Location": "/1", "Upload-Offset": "0", "Upload-Complete": "?0"], request: request)
        }
        let error = await httpError {
            try await testClient(transport: stub).upload(.bytes([1, 2, 3]), to: "http://a.test/uploads", resumes: 0)
        }
        #expect(error?.code == .protocolViolation)
        #expect(stub.requests.last?.urlText == "http://a.test/b" && stub.requests.last?.method == method)
    }

    @Test("An upload at another origin is found by the name of that one")
    func address() async throws {
        let stub = StubTransport(sequence: [
            .respond(201, headers: ["Location": "http://b.test/1", "Upload-Offset": "0", "Upload-Complete": "?0"]),
            .respond(.ok, headers: ["Upload-Complete": "?1"]),
        ])
        var request = HTTPRequest(.post, "http://a.test/uploads")
        request.address = "10.0.0.1"
        try await testClient(transport: stub).upload(.bytes([1]), by: request)
        #expect(stub.requests.map(\.urlText) == ["http://a.test/uploads", "http://b.test/1"])
        #expect(stub.requests.map(\.address) == ["10.0.0.1", nil])
    }

    @Test(
        "An upload that goes on by https in place of http, on the same host, keeps its credentials",
        arguments: [("https://a.test/1", "secret"), ("https://b.test/1", nil)] as [(String, String?)])
    func securedPlace(place: String, credential: String?) async throws {
        let stub = StubTransport(sequence: [
            .respond(201, headers: ["Location": place]),
            .respond(.noContent, headers: ["Upload-Offset": "1"]),
        ])
        let client = testClient(baseURL: "http://a.test/", transport: stub) {
            ClosureRequestInterceptor(stage: .attempt) { $0.headers[.authorization] = "secret" }
        }
        try await client.upload(.bytes([1]), to: "uploads", headers: ["Cookie": "a=1"], protocol: .tus)
        #expect(stub.requests.map(\.urlText) == ["http://a.test/uploads", place])
        #expect(stub.requests.map { $0.headers[.authorization] } == ["secret", credential])
        #expect(stub.requests.map { $0.headers[.cookie] } == ["a=1", credential.map { _ in "a=1" }])
    }

    @Test("An upload at another origin gets no trailers that are marked as sensitive, though an interceptor adds them")
    func trailers() async throws {
        let stub = StubTransport(sequence: [
            .respond(201, headers: ["Location": "http://b.test/1", "Upload-Offset": "0", "Upload-Complete": "?0"]),
            .respond(.ok, headers: ["Upload-Complete": "?1"]),
        ])
        let client = testClient(transport: stub) {
            ClosureRequestInterceptor(stage: .exchange) { $0.trailers = { .sumAndKey } }
        }
        try await client.upload(.bytes([1]), to: "http://a.test/uploads")
        let trailers = stub.requests.map { $0.trailers?() ?? [:] }
        #expect(trailers.map { $0.contains("X-Key") } == [true, false])
        #expect(trailers.allSatisfy { $0["X-Sum"] == "1" })
    }
}
