import Foundation
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("Requests and responses", .leavesNothing)
struct RequestAndResponseTests {
    @Test("a request keeps what it is given")
    func request() {
        let request = HTTPRequest(.put, "users/1", headers: ["A": "1"], body: .text("x"))
        #expect(request.method == .put && request.urlText == "users/1" && request.headers["A"] == "1")
        #expect(request.body.text == "x" && request.attempt == 1)
        #expect(HTTPRequest("x").method == .get)
        #expect(request.timeout == nil && request.deadline == nil && request.maxRetries == nil && request.validators == nil)
        #expect(
            "\(request.redirects)" == "\(RedirectPolicy.follow())" && request.interceptors.isEmpty && !request.allowsUnsafeRetry)
    }

    @Test("settings are values of their request")
    func settings() {
        var request = HTTPRequest("x")
        request.timeout = .seconds(1)
        request.deadline = .seconds(2)
        var copy = request
        copy.timeout = .seconds(3)
        copy.maxRetries = 4
        copy.allowsUnsafeRetry = true
        copy.validators = []
        #expect(request.timeout == .seconds(1) && request.maxRetries == nil && !request.allowsUnsafeRetry)
        #expect(copy.timeout == .seconds(3) && copy.deadline == .seconds(2) && copy.maxRetries == 4 && copy.allowsUnsafeRetry)
        #expect(copy.validators?.isEmpty == true)
    }

    private enum Tenant: RequestContextKey { static let defaultValue = "public" }
    private enum Depth: RequestContextKey { static let defaultValue = 0 }

    @Test("context values are typed, have a default, and travel to the transport")
    func context() async throws {
        var request = HTTPRequest("https://h")
        #expect(request.context[Tenant.self] == "public")
        request.context[Tenant.self] = "acme"
        request.context[Depth.self] += 1
        let stub = StubTransport.ok
        _ = try await testClient(transport: stub).send(request)
        #expect(stub.requests.first?.context[Tenant.self] == "acme")
        #expect(stub.requests.first?.context[Depth.self] == 1)
        #expect(!"\(request.context)".contains("acme"))
    }

    @Test("times and retries are part of the context, though under no key")
    func limits() {
        var request = HTTPRequest("https://h")
        request.timeout = .seconds(3)
        request.maxRetries = 2
        var other = HTTPRequest("https://h")
        #expect(!request.context.isEqual(to: other.context) && request.context.isComparable)
        other.context = request.context
        #expect(other.timeout == .seconds(3) && other.deadline == nil && other.maxRetries == 2)
        #expect(request.context.isEqual(to: other.context))
        other.context[Depth.self] = 1
        #expect("\(HTTPRequest("https://h").context)" == "0 values" && "\(request.context)" == "1 values")
        #expect("\(other.context)" == "2 values")
        request.timeout = nil
        request.maxRetries = nil
        #expect(request.context.isEqual(to: HTTPRequest("https://h").context))
    }

    @Test("A9 each request has an id of its own, and copies share it")
    func ids() {
        let ids = Set((0..<10_000).map { _ in HTTPRequest("x").id })
        #expect(ids.count == 10_000)
        for id in ids.prefix(50) {
            let text = Array(id.uuidString)
            #expect(text[14] == "4" && "89AB".contains(text[19]))
        }
        let request = HTTPRequest("x")
        var copy = request
        copy.method = .post
        #expect(copy.id == request.id)
    }

    @Test("url gives a URL for any text")
    func url() {
        #expect(HTTPRequest("https://h/x?y=z").url.absoluteString == "https://h/x?y=z")
        #expect(HTTPRequest("a b").url.absoluteString == "a%20b")
        _ = HTTPRequest("").url
        _ = HTTPRequest("http://[").url
        _ = HTTPRequest("%zz\n").url
        var request = HTTPRequest("x")
        if let url = URL(string: "https://h/é") { request.url = url }
        #expect(request.urlText == "https://h/%C3%A9")
    }

    @Test("a response decodes its buffered body, and says what it couldn't")
    func decoding() throws {
        let request = HTTPRequest("https://h")
        let good = HTTPResponse(status: .ok, body: .text("[1,2]"), request: request)
        #expect(try good.decode([Int].self) == [1, 2])
        #expect(good.data == Data("[1,2]".utf8))
        let bad = HTTPResponse(status: .ok, body: .text("no"), request: request)
        let error = #expect(throws: HTTPError.self) { try bad.decode([Int].self) }
        #expect(error?.code == .decoding && error?.underlying is DecodingError && error?.response?.status == .ok)
        let stream = HTTPResponse(status: .ok, body: .stream { chunks("[1]") }, request: request)
        #expect(#expect(throws: HTTPError.self) { try stream.decode([Int].self) }?.code == .decoding)
        #expect(stream.data.isEmpty)
    }

    #if os(macOS) || os(Linux)  // where tests can run in a process of their own
        @Test("data of a body that isn't in memory is empty, and that is reported on standard error")
        func dataOfAStream() async throws {
            let result = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
                let request = HTTPRequest("https://u:secret@h/a?token=hush")
                #expect(HTTPResponse(status: .ok, body: .incoming(ArrivingBody()), request: request).data.isEmpty)
                #expect(HTTPResponse(status: .ok, request: request).data.isEmpty)
            }
            let report = String(decoding: result.standardErrorContent, as: UTF8.self)
            #expect(report.components(separatedBy: "data is empty for 200 OK from GET https://").count == 2)
            #expect(!report.contains("secret") && !report.contains("hush"))
        }
    #endif

    @Test("trailers and metrics are those given, or those of the body that has arrived")
    func ending() async throws {
        let request = HTTPRequest("https://h")
        let arriving = HTTPResponse(status: .ok, body: .incoming(ArrivingBody()), request: request)
        #expect(arriving.trailers == nil && arriving.metrics == nil)
        _ = try await arriving.body.collect()
        #expect(arriving.trailers?["X-Trailer"] == "end" && arriving.metrics != nil)
        var given = HTTPResponse(status: .ok, request: request, trailers: ["A": "1"])
        #expect(given.trailers == ["A": "1"] && given.metrics == nil)
        given.metrics = TransportMetrics()
        given.trailers = nil
        #expect(given.trailers == nil && given.metrics != nil)
    }

    @Test("messages and errors are handed on as one word or two, and a changed copy leaves the other as it was")
    func copies() {
        #expect(MemoryLayout<HTTPRequest>.size <= 16)
        #expect(MemoryLayout<HTTPResponse>.size <= 8 && MemoryLayout<HTTPError>.size <= 8)
        let response = HTTPResponse(status: .ok, headers: ["A": "1"], body: .text("x"), request: HTTPRequest("https://h"))
        var changed = response
        changed.status = .created
        changed.headers["A"] = "2"
        changed.body = .text("y")
        changed.trailers = ["B": "1"]
        #expect(response.status == .ok && response.headers["A"] == "1" && response.body.text == "x" && response.trailers == nil)
        #expect(changed.status == .created && changed.headers["A"] == "2" && changed.body.text == "y")
        #expect(changed.trailers == ["B": "1"] && changed.request.id == response.request.id)
    }

    @Test("a response prints its status and where it came from")
    func description() {
        let response = HTTPResponse(status: .ok, headers: ["A": "1"], body: .text("x"), request: HTTPRequest("https://h"))
        #expect("\(response)" == "200 OK from GET https://h")
        #expect(response.debugDescription == "200 OK from GET https://h\nA: 1\n[1 bytes]")
        #expect(response.url.absoluteString == "https://h" && response.version == .http1_1)
    }
}
