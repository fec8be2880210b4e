import Interception
import Midstream
import MidstreamTesting
import TestSupport
import Testing

@Suite("E. Client and verdicts, on a server", .leavesNothing)
struct ClientAndVerdictServerTests {
    private let server: MockServer
    private let bench: ArbiterBench

    init() throws {
        server = try MockServer()
        bench = ArbiterBench(on: server)
    }

    @Test("E1 base URL, default headers and query; the request's own header wins, its own query comes first")
    func defaults() async throws {
        server.respond { _ in .init(body: "hello") }
        let client = bench.client {
            $0.headers = ["User-Agent": "mine", "X-API-Experimental": "true"]
            $0.query = [("v", "2"), ("q", "a b")]
        }
        let response = try await client.send(HTTPRequest("books?id=7", headers: ["x-api-experimental": "false"]))
        #expect(response.body.bytes == Array("hello".utf8))
        let request = try await server.takeRequest()
        #expect(request.target == "/api/books?id=7&v=2&q=a%20b")
        #expect(request.headers["User-Agent"] == "mine" && request.headers.values("X-API-Experimental") == ["false"])
    }

    @Test("E1 an attempt that takes longer than its timeout ends")
    func timeout() async throws {
        server.respond { _ in .init(fault: .stall(.beforeHead)) }
        let client = bench.client { $0.timeout = .seconds(5) }
        let call = Task { await httpError { try await client.send(HTTPRequest("x")) } }
        _ = try await server.takeRequest()
        await bench.clock.waitForSleepers(1)
        bench.clock.advance(by: .seconds(5))
        #expect(await call.value?.code == .timeout)
    }

    @Test("E1 redirect modes: follow, with original headers, custom, refuse")
    func redirects() async throws {
        server.respond { request in
            request.path == "/api/old" ? .init(status: 302, headers: ["Location": "/api/new"]) : .init(body: "new")
        }
        let request = HTTPRequest(.post, "old", headers: ["Authorization": "Bearer t"], body: .text("x"))
        for policy in [RedirectPolicy.follow(), .followWithOriginalHeaders(), .custom { target, _ in target }, .refuse] {
            var request = request
            request.redirects = policy
            _ = try await bench.client().send(request)
        }
        let seen = server.requests.map { "\($0.method) \($0.path) \($0.text)" }
        #expect(
            seen == [
                "POST /api/old x", "GET /api/new ", "POST /api/old x", "POST /api/new x", "POST /api/old x", "GET /api/new ",
                "POST /api/old x",
            ])
    }

    @Test("E1 credentials don't follow a redirect to another origin, even with the original headers")
    func redirectToOtherOrigin() async throws {
        let other = try MockServer()
        other.enqueue(.init(body: "other"))
        server.enqueue(.init(status: 307, headers: ["Location": other.url("/there")]))
        var request = HTTPRequest("x", headers: ["Authorization": "Bearer t", "Cookie": "a=b", "X-Kept": "1"])
        request.redirects = .followWithOriginalHeaders()
        _ = try await bench.client().send(request)
        let seen = try await other.takeRequest()
        #expect(!seen.headers.contains(.authorization) && !seen.headers.contains("Cookie") && seen.headers["X-Kept"] == "1")
    }

    @Test("E1 response interceptors come before the validators, which are asked in order")
    func order() async throws {
        server.respond { _ in .init(status: 404, body: "x") }
        let steps = Steps()
        let client = bench.client(validators: [
            CallbackValidator { response, _ in
                steps.note("1 \(response.status.code)")
                return .next
            },
            CallbackValidator { response, _ in
                steps.note("2 \(response.status.code)")
                return .next
            },
        ]) { _ in
        } interceptors: {
            ClosureResponseInterceptor { response in
                steps.note("interceptor \(response.status.code)")
                response.status = 200
            }
        }
        #expect(try await client.send(HTTPRequest("x")).status == .ok)
        #expect(steps.all == ["interceptor 404", "1 200", "2 200"])
    }

    @Test("E2 next, nextWith, fail and a throw; the first verdict that isn't next decides")
    func verdicts() async throws {
        server.respond { _ in .init(body: "original") }
        let other = CallbackValidator { response, request in
            .nextWith(HTTPResponse(status: 202, body: .text("other"), request: request))
        }
        #expect(try await bench.client(validators: [CallbackValidator { _, _ in .next }]).send(HTTPRequest("x")).status == 200)
        #expect(try await bench.client(validators: [other]).send(HTTPRequest("x")).status == 202)
        let rejecting = CallbackValidator { response, _ in response.status == 202 ? .fail(Failure("rejected")) : .next }
        let unreached = CallbackValidator { _, _ in .fail(Failure("unreached")) }
        await #expect(throws: Failure("rejected")) {
            try await bench.client(validators: [other, rejecting, unreached]).send(HTTPRequest("x"))
        }
        await #expect(throws: Failure("thrown")) {
            try await bench.client(validators: [CallbackValidator { _, _ in throw Failure("thrown") }, unreached])
                .send(HTTPRequest("x"))
        }
        #expect(server.requestCount == 4)
    }

    @Test("E2 retry sends again")
    func retry() async throws {
        server.enqueue(.init(status: 500), .init(body: "fine"))
        let client = bench.client(
            maxRetries: 1, validators: [CallbackValidator { response, _ in response.status == 500 ? .retry(.immediate) : .next }])
        #expect(try await client.send(HTTPRequest(.post, "x", body: .text("body"))).status == .ok)
        #expect(server.requests.map(\.text) == ["body", "body"])
    }

    @Test("E8 the default validator: statuses with their bodies, empty responses, retriable statuses and failures")
    func defaultValidator() async throws {
        server.enqueue(.init(status: 404, body: "nothing"), .init(), .init(status: 204))
        let missing = await httpError { try await bench.client().send(HTTPRequest("x")) }
        #expect(missing?.code == .unacceptableStatus && missing?.response?.body.bytes == Array("nothing".utf8))
        let demanding = bench.client(validators: [DefaultValidator(allowsEmptyResponses: false)])
        #expect(await httpError { try await demanding.send(HTTPRequest("x")) }?.code == .emptyResponse)
        #expect(try await demanding.send(HTTPRequest("x")).status == .noContent)

        for status in [429, 503, 502, 504, 408] as [HTTPStatus] {
            // With 408 a server may take the connection to be useless, and so may a transport.
            server.enqueue(
                .init(status: status, headers: ["Connection": "close"]),
                .init(headers: ["Connection": "close"], body: "fine"))
            let (delays, result) = await bench.waits(1, of: bench.client(maxRetries: 1))
            #expect(try result.get().status == .ok)
            #expect(delays == [status == 429 || status == 503 ? .seconds(1) : .milliseconds(50)])
        }
        let faults: [Fault] = [.disconnect(.insideHead), .reset(.beforeHead), .disconnect(.insideBody(afterBytes: 2))]
        for fault in faults {
            // On a kept connection libcurl itself would send the request again after some of these.
            server.enqueue(
                .init(body: "cut off", fault: fault), .init(headers: ["Connection": "close"], body: "fine"))
            let (delays, result) = await bench.waits(1, of: bench.client(maxRetries: 1))
            #expect(try result.get().status == .ok)
            #expect(delays == [.milliseconds(50)])
        }
    }
}
