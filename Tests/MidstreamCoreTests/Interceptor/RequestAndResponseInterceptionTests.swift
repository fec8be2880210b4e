import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

/// Adds a header on the way down and another one on the way up.
private struct Stamp: RequestInterceptor, ResponseInterceptor {
    func intercept(request: inout HTTPRequest) async throws { request.headers.add("X-Down", "1") }
    func intercept(response: inout HTTPResponse) async throws { response.headers.add("X-Up", "1") }
}

/// The session that a 401 says is over.
private actor Session {
    private(set) var token = 1
    func renew() { token += 1 }
}

/// A 401 leads to a new session and the same request again.
private struct RenewingSession: HTTPInterceptor {
    let session: Session

    func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        let response = try await next(authorized(request))
        guard response.status == .unauthorized else { return response }
        await session.renew()
        return try await next(authorized(request))
    }

    private func authorized(_ request: HTTPRequest) async -> HTTPRequest {
        var request = request
        request.headers.add(.authorization, "Bearer \(await session.token)")
        return request
    }
}

@Suite("A. Request and response interception", .leavesNothing)
struct RequestAndResponseInterceptionTests {
    private let request = HTTPRequest("https://h/path?b=1&a=2")

    @Test("A1 a request interceptor sees everything set, and may change all of it")
    func wholeRequest() async throws {
        let steps = Steps()
        let stub = StubTransport.ok
        var configuration = HTTPClient.Configuration()
        configuration.headers = ["X-Default": "d"]
        configuration.query = [("k", "v")]
        let client = testClient(baseURL: "https://h/base", configuration: configuration, transport: stub) {
            ClosureRequestInterceptor { request in
                steps.note(
                    "\(request.method) \(request.urlText) \(request.headers["X-Default"] ?? "") \(request.headers[.contentType] ?? "") \(request.body.text)"
                )
                await Task.yield()
                request.method = .put
                request.urlText = "https://other/x"
                request.addQuery("q", "1")
                request.headers["X-Default"] = "mine"
                request.body = .text("changed")
            }
        }
        _ = try await client.send(HTTPRequest(.post, "path?b=1", body: try .json([1])))
        #expect(steps.all == ["POST https://h/base/path?b=1&k=v d application/json [1]"])
        let sent = try #require(stub.requests.first)
        #expect(sent.method == .put && sent.urlText == "https://other/x?q=1" && sent.body.text == "changed")
        #expect(sent.headers.values("X-Default") == ["mine"])
        #expect(sent.headers.values(.contentType) == ["text/plain; charset=utf-8"])
    }

    @Test("A1 a request interceptor's throw keeps the request from being sent")
    func requestThrows() async {
        let stub = StubTransport.ok
        let client = testClient(transport: stub) { ClosureRequestInterceptor { _ in throw Failure("no") } }
        await #expect(throws: Failure("no")) { try await client.send(request) }
        #expect(stub.requests.isEmpty)
    }

    @Test("A2 a response interceptor gets the response with its request, and may change it")
    func wholeResponse() async throws {
        let stub = StubTransport(status: .ok, headers: ["A": "1"], body: .text("body"))
        let client = testClient(transport: stub) {
            ClosureResponseInterceptor { response in
                #expect(response.request.urlText == "https://h/path?b=1&a=2")
                #expect(response.headers["A"] == "1" && response.body.text == "body")
                await Task.yield()
                response.status = .created
                response.headers["A"] = "2"
                response.body = .text("changed")
            }
        }
        let response = try await client.send(request)
        #expect(response.status == .created && response.headers["A"] == "2" && response.body.text == "changed")
        #expect(String(decoding: response.data, as: UTF8.self) == "changed")
    }

    @Test("A2 a response interceptor's throw reaches the caller as it is, and closes the response")
    func responseThrows() async {
        let (first, second) = (ArrivingBody(), ArrivingBody())
        let client = testClient(transport: StubTransport(status: .ok, body: .incoming(first))) {
            ClosureResponseInterceptor { response in
                response.body = .incoming(second)
                throw Failure("no")
            }
        }
        await #expect(throws: Failure("no")) { try await client.stream(request) }
        #expect(first.closings > 0 && second.closings > 0)
    }

    @Test("A2 401, a new session, the same request again: one interceptor")
    func renewedSession() async throws {
        let stub = StubTransport { request in
            let isFresh = request.headers[.authorization] == "Bearer 2"
            return HTTPResponse(status: isFresh ? .ok : .unauthorized, request: request)
        }
        let client = testClient(transport: stub) { RenewingSession(session: Session()) }
        #expect(try await client.send(HTTPRequest(.post, "https://h/x", body: .text("same"))).status == .ok)
        #expect(stub.requests.map { $0.headers.values(.authorization) } == [["Bearer 1"], ["Bearer 2"]])
        #expect(stub.requests.map(\.body.text) == ["same", "same"])
        #expect(stub.requests[0].id == stub.requests[1].id)
    }

    @Test("A3 closures for requests, for responses, and for both")
    func closures() async throws {
        let stub = StubTransport.ok
        let client = testClient(transport: stub) {
            ClosureRequestInterceptor { $0.headers["X-A"] = "1" }
            ClosureResponseInterceptor { $0.headers["X-B"] = "2" }
            ClosureHTTPInterceptor { request, next in
                var response = try await next(request)
                response.headers["X-C"] = "3"
                return response
            }
        }
        let response = try await client.send(request)
        #expect(stub.requests.first?.headers["X-A"] == "1")
        #expect(response.headers["X-B"] == "2" && response.headers["X-C"] == "3")
        #expect(ClosureRequestInterceptor(stage: .call) { _ in }.stage == .call)
        #expect(ClosureResponseInterceptor(stage: .exchange) { _ in }.stage == .exchange)
        #expect(ClosureHTTPInterceptor { try await $1($0) }.stage == .attempt)
    }

    @Test("A2 a type may be a request interceptor and a response interceptor")
    func bothKinds() async throws {
        let stub = StubTransport.ok
        let response = try await testClient(transport: stub) { Stamp() }.send(request)
        #expect(stub.requests.first?.headers.values("X-Down") == ["1"])
        #expect(response.headers.values("X-Up") == ["1"])
    }

    @Test("A6 a response interceptor sees a 401 or 500 before the validators, which interceptors never turn off")
    func beforeValidators() async {
        for status in [HTTPStatus.unauthorized, .internalServerError] {
            let steps = Steps()
            let client = testClient(transport: StubTransport(status: status, body: .text("why"))) {
                ClosureResponseInterceptor { steps.note("\($0.status.code)") }
                ClosureResponseInterceptor(stage: .call) { _ in steps.note("never") }
            }
            let error = await httpError { try await client.send(request) }
            #expect(error?.code == .unacceptableStatus)
            #expect(error?.response?.status == status && error?.response?.body.text == "why")
            #expect(steps.all == ["\(status.code)"])
        }
    }

    @Test("A7 each send starts from the request as it entered, so a header is added once per send")
    func addedOncePerSend() async throws {
        let stub = StubTransport(sequence: [.respond(503), .respond(503), .respond(.ok)])
        let client = testClient(transport: stub) {
            ClosureHTTPInterceptor { request, next in
                var response = try await next(request)
                while response.status == 503 { response = try await next(request) }
                return response
            }
            ClosureRequestInterceptor { $0.headers.add("X-Added", "1") }
            ClosureRequestInterceptor(stage: .exchange) { $0.headers.add("X-Added", "2") }
        }
        _ = try await client.send(request)
        #expect(stub.requests.map { $0.headers.values("X-Added") } == [["1", "2"], ["1", "2"], ["1", "2"]])
    }

    @Test("A8 the query that was given arrives as it was given")
    func query() async throws {
        let stub = StubTransport.ok
        _ = try await testClient(transport: stub) { ClosureRequestInterceptor { $0.addQuery("c", "3") } }.send(request)
        #expect(stub.requests.first?.urlText == "https://h/path?b=1&a=2&c=3")
    }

    @Test("A9 id is that of the call, and attempt counts from 1")
    func idAndAttempt() async throws {
        let stub = StubTransport.ok
        let client = testClient(transport: stub)
        _ = try await client.send(request)
        _ = try await client.send(request)
        #expect(stub.requests.allSatisfy { $0.id == request.id && $0.attempt == 1 })
    }

    @Test("A2 a response may be sent for again by its own request")
    func resentResponseRequest() async throws {
        let stub = StubTransport(status: .ok)
        let client = testClient(transport: stub)
        let response = try await client.send(request)
        let again = try await client.send(response.request)
        #expect(again.request.id == request.id && stub.requests.count == 2)
        #expect(again.trace.spans.count == 1)
    }
}
