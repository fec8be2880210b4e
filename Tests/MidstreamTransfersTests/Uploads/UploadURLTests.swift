import Midstream
import MidstreamTesting
import TestSupport
import Testing

@Suite("The URL of an upload", .leavesNothing, .timeLimit(.minutes(10)))
struct UploadURLTests {
    private let stub = StubTransport(status: .created)

    @Test("A value that is written into it stays one segment")
    func value() async throws {
        let name = "../a/b?c"
        try await testClient(baseURL: "https://h/", transport: stub).upload(.bytes([1]), to: "files/\(name)")
        #expect(stub.requests.map(\.urlText) == ["https://h/files/..%2Fa%2Fb%3Fc"])
        #expect(stub.requests.map(\.route) == ["files/{}"])
    }

    @Test("Where the server continues it, it has no route")
    func continuation() async throws {
        let stub = StubTransport { request in
            let isFirst = request.method == .post
            _ = try await request.body.collect()
            return HTTPResponse(
                status: isFirst ? .created : .noContent, headers: isFirst ? [.location: "/uploads/17"] : ["Upload-Offset": "1"],
                request: request)
        }
        let name = "a"
        try await testClient(baseURL: "https://h/", transport: stub).upload(.bytes([1]), to: "files/\(name)", protocol: .tus)
        #expect(stub.requests.map(\.urlText) == ["https://h/files/a", "https://h/uploads/17"])
        #expect(stub.requests.map(\.route) == ["files/{}", nil])
    }

    @Test("A text that was made elsewhere is taken as it is")
    func text() async throws {
        let url: String = "https://h/files/a/b?c"
        try await testClient(transport: stub).upload(.bytes([1]), to: url)
        #expect(stub.requests.map(\.urlText) == [url])
    }
}
