import Foundation
import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("Client", .leavesNothing)
struct ClientTests {
    private let request = HTTPRequest("https://h")

    private func configuration(_ change: (inout HTTPClient.Configuration) -> Void) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration()
        change(&configuration)
        return configuration
    }

    @Test("E1 default headers are sent, and the request's own win")
    func defaultHeaders() async throws {
        let stub = StubTransport.ok
        let defaults = configuration {
            $0.headers = ["X-A": "1", "X-B": "2", "x-a": "3"]
            $0.headers.markSensitive("X-B")
        }
        let client = testClient(configuration: defaults, transport: stub)
        _ = try await client.send(HTTPRequest("https://h", headers: ["x-b": "mine", "X-C": "4"]))
        _ = try await client.send(HTTPRequest("https://h"))
        #expect(stub.requests[0].headers == ["x-b": "mine", "X-C": "4", "X-A": "1", "x-a": "3"])
        #expect(stub.requests[0].headers.isSensitive("X-B"))
        #expect(stub.requests[1].headers == ["X-A": "1", "X-B": "2", "x-a": "3"])
    }

    @Test("a default header that is refused doesn't matter where the request has its own")
    func refusedDefault() async throws {
        let stub = StubTransport.ok
        let client = testClient(configuration: configuration { $0.headers["X-A"] = "bad\n" }, transport: stub)
        #expect(await httpError { try await client.send(request) }?.code == .invalidRequest)
        // Beside others, too.
        let other = HTTPRequest("https://h", headers: ["X-B": "good"])
        #expect(await httpError { try await client.send(other) }?.code == .invalidRequest)
        _ = try await client.send(HTTPRequest("https://h", headers: ["X-A": "good"]))
        #expect(stub.requests.map { $0.headers["X-A"] } == ["good"])
    }

    @Test("the body's type is the default Content-Type")
    func contentType() async throws {
        let stub = StubTransport.ok
        let client = testClient(
            configuration: configuration { $0.headers = [:] }, transport: stub)
        _ = try await client.send(HTTPRequest(.post, "https://h", body: .form([("a", "1")])))
        _ = try await client.send(HTTPRequest(.post, "https://h", headers: ["content-type": "x/y"], body: .text("a")))
        _ = try await client.send(HTTPRequest(.post, "https://h", body: .bytes([1])))
        #expect(
            stub.requests.map { $0.headers.values(.contentType) } == [["application/x-www-form-urlencoded"], ["x/y"], []])
    }

    @Test("a client's Content-Type doesn't take the boundary from a body of parts")
    func contentTypeOfParts() async throws {
        let stub = StubTransport.ok
        let client = testClient(
            configuration: configuration { $0.headers = [.contentType: "application/json"] }, transport: stub)
        let form = HTTPBody.multipart([.field("a", "1")])
        _ = try await client.send(HTTPRequest(.post, "https://h", body: form))
        _ = try await client.send(HTTPRequest(.post, "https://h", headers: [.contentType: "x/y"], body: form))
        _ = try await client.send(HTTPRequest(.post, "https://h", body: .text("a")))
        #expect(
            stub.requests.map { $0.headers.values(.contentType) } == [[form.contentType ?? ""], ["x/y"], ["application/json"]])
    }

    @Test("send() buffers the body, and takes its trailers and metrics along")
    func buffered() async throws {
        let stub = StubTransport(status: .ok, body: .incoming(ArrivingBody([[1], [2, 3]])))
        let response = try await testClient(transport: stub).send(request)
        #expect(response.body.bytes == [1, 2, 3] && response.data == Data([1, 2, 3]))
        #expect(response.trailers?["X-Trailer"] == "end" && response.metrics != nil)
    }

    @Test("send() buffers what an interceptor answers with, and its limit holds")
    func bufferedAnswer() async throws {
        for stage in InterceptorStage.allCases {
            let limited = configuration { $0.maximumBufferedBody = 5 }
            func client(answering text: String) -> HTTPClient {
                testClient(configuration: limited, transport: StubTransport.ok) {
                    ClosureHTTPInterceptor(stage: stage) { request, _ in
                        HTTPResponse(status: .ok, body: .stream { chunks(text) }, request: request)
                    }
                }
            }
            #expect(try await client(answering: "short").send(request).body.text == "short")
            #expect(await httpError { try await client(answering: "longer").send(request) }?.code == .bodyTooLarge)
            #expect(try await client(answering: "longer").stream(request).body.bytes == nil)
        }
    }

    @Test("a body past the limit is .bodyTooLarge, and closed")
    func tooLarge() async {
        let arriving = ArrivingBody([[1, 2], [3, 4]])
        let client = testClient(
            configuration: configuration { $0.maximumBufferedBody = 3 },
            transport: StubTransport(status: .ok, body: .incoming(arriving)))
        let error = await httpError { try await client.send(request) }
        #expect(error?.code == .bodyTooLarge && error?.phase == .answered)
        #expect(arriving.closings > 0)
    }

    @Test("E8 a status outside 200..<400 is refused by default, with the response and its body", arguments: [100, 199, 400, 599])
    func defaultStatus(code: Int) async {
        let client = testClient(transport: StubTransport(status: HTTPStatus(code), body: .text("why")))
        let error = await httpError { try await client.send(request) }
        #expect(error?.code == .unacceptableStatus && error?.phase == .answered)
        #expect(error?.response?.status.code == code && error?.response?.body.text == "why")
        #expect(error?.request?.id == request.id && error?.trace?.spans.count == 1)
    }

    @Test("E8 a status in 200..<400 is accepted by default", arguments: [200, 204, 299, 300, 304, 399])
    func acceptableStatus(code: Int) async throws {
        #expect(try await testClient(transport: StubTransport(status: HTTPStatus(code))).send(request).status.code == code)
    }

    private struct Judge: HTTPValidator {
        let verdict: @Sendable (HTTPResponse) throws -> HTTPVerdict
        func validate(_ response: HTTPResponse, for request: HTTPRequest) async throws -> HTTPVerdict { try verdict(response) }
    }

    @Test("E2 the first verdict that isn't next decides, and a replaced response is what later validators see")
    func verdicts() async throws {
        let steps = Steps()
        func client(_ judges: Judge...) -> HTTPClient {
            testClient(configuration: configuration { $0.validators = judges }, transport: StubTransport(status: 500))
        }
        let replacing = Judge { .nextWith(HTTPResponse(status: .created, request: $0.request)) }
        let noting = Judge { response in
            steps.note("\(response.status.code)")
            return .next
        }
        #expect(try await client(noting, replacing, noting).send(request).status == .created)
        #expect(steps.all == ["500", "201"])
        await #expect(throws: Failure("verdict")) {
            try await client(Judge { _ in .fail(Failure("verdict")) }, noting).send(request)
        }
        await #expect(throws: Failure("thrown")) {
            try await client(Judge { _ in throw Failure("thrown") }, noting).send(request)
        }
        #expect(steps.all.count == 2)
    }

    @Test("a request's validators take the place of the client's")
    func requestValidators() async throws {
        let client = testClient(transport: StubTransport(status: 500))
        var lenient = request
        lenient.validators = []
        #expect(try await client.send(lenient).status == 500)
        lenient.validators = [DefaultValidator(acceptableStatus: [404])]
        #expect(await httpError { try await client.send(lenient) }?.code == .unacceptableStatus)
    }

    @Test(
        "errors of the user's own interceptors reach the caller unwrapped, from any stage", arguments: InterceptorStage.allCases)
    func userErrors(stage: InterceptorStage) async {
        let client = testClient(transport: StubTransport.ok) {
            ClosureRequestInterceptor(stage: stage) { _ in throw Failure("own") }
        }
        await #expect(throws: Failure("own")) { try await client.send(request) }
        let failing = testClient(transport: StubTransport { _ in throw Failure("transport") })
        await #expect(throws: Failure("transport")) { try await failing.stream(request) }
    }

    @Test("an HTTPError of whoever threw it gets the request and the trace")
    func completedError() async {
        let client = testClient(transport: StubTransport { _ in throw HTTPError(.connection, "refused") })
        let error = await httpError { try await client.send(HTTPRequest("https://h/x")) }
        #expect(error?.code == .connection && error?.message == "refused")
        #expect(error?.request?.urlText == "https://h/x")
        #expect(error?.trace?.spans.count == 1)
    }

    @Test("a response that an interceptor has kept from another call carries the trace of the call that it answers")
    func keptResponse() async throws {
        let kept = Locked<HTTPResponse?>(nil)
        let client = testClient(transport: StubTransport.ok) {
            ClosureHTTPInterceptor { request, next in
                if let response = kept.withLock({ $0 }) { return response }
                let response = try await next(request)
                kept.withLock { $0 = response }
                return response
            }
        }
        let first = try await client.send(HTTPRequest("https://h/1"))
        let second = try await client.send(HTTPRequest("https://h/2"))
        #expect(first.trace.description.hasPrefix("GET https://h/1"))
        #expect(second.trace.description.hasPrefix("GET https://h/2"))
    }

    @Test("a client serves many calls at once")
    func concurrent() async throws {
        let client = testClient(transport: StubTransport { HTTPResponse(status: .ok, body: .text($0.urlText), request: $0) }) {
            ClosureRequestInterceptor { $0.addQuery("a", "1") }
        }
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<100 {
                group.addTask { try await client.send(HTTPRequest("https://h/\(number)")).body.text == "https://h/\(number)?a=1" }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }
}
