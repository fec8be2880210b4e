import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamResilience

@Suite("A fallback", .leavesNothing, .timeLimit(.minutes(10)))
struct FallbackTests {
    private let bench = ArbiterBench()

    private func client(_ transport: StubTransport, body: HTTPBody = .text("yesterday")) -> HTTPClient {
        bench.client(
            transport,
            interceptors: {
                Fallback { request, _ in HTTPResponse(status: 200, body: body, request: request) }
            })
    }

    @Test(
        "it answers when the server can't be had, and says so",
        arguments: [
            HTTPError.Code.timeout, .connection, .circuitOpen, .overloaded, .rateLimited,
        ])
    func answers(code: HTTPError.Code) async throws {
        let response = try await client(StubTransport { _ in throw HTTPError(code) }).send(HTTPRequest("/"))
        #expect(response.isFallback)
        #expect(String(decoding: response.data, as: UTF8.self) == "yesterday")
        #expect(response.trace.events(named: "fallback").first?.attributes["reason"] == .string(code.rawValue))
    }

    @Test("a status is one as well, from 500 on", arguments: [(503, true), (429, true), (404, false)])
    func status(status: Int, isMeant: Bool) async throws {
        let result = await Result { try await client(StubTransport(status: HTTPStatus(status))).send(HTTPRequest("/")) }
        #expect((try? result.get().isFallback) == (isMeant ? true : nil))
    }

    @Test("what works is passed on, and so is what isn't meant")
    func passes() async throws {
        let response = try await client(StubTransport(status: 200)).send(HTTPRequest("/"))
        #expect(!response.isFallback)
        await #expect(throws: Failure.self) { try await client(StubTransport { _ in throw Failure() }).send(HTTPRequest("/")) }
        await #expect(throws: CancellationError.self) {
            try await client(StubTransport { _ in throw CancellationError() }).send(HTTPRequest("/"))
        }
    }

    @Test("it doesn't answer an alternate request, whose answer would be taken for a login", arguments: [nil, 503])
    func alternate(status: Int?) async throws {
        let steps = Steps()
        let stub = StubTransport { request in
            guard request.urlText.hasSuffix("/login") else { return HTTPResponse(status: .unauthorized, request: request) }
            guard let status else { throw HTTPError(.connection) }
            return HTTPResponse(status: HTTPStatus(status), request: request)
        }
        let login = AlternateRequestValidator { _, _ in
            HTTPRequest(.post, "/login")
        } then: { _, _ in
            steps.note("then")
        }
        let client = bench.client(
            stub, validators: [login, DefaultValidator()],
            interceptors: {
                Fallback { request, _ in HTTPResponse(status: 200, body: .text("[]"), request: request) }
            })
        let error = await httpError { try await client.send(HTTPRequest("/")) }
        #expect(error?.code == .authentication && error?.response?.status == .unauthorized)
        #expect((error?.underlying as? HTTPError)?.code == (status == nil ? .connection : .unacceptableStatus))
        #expect(steps.all.isEmpty)
    }

    @Test(
        "a deadline is answered, too, wherever the answer's body comes from",
        arguments: [HTTPBody.text("yesterday"), .stream { chunks("yester", "day") }])
    func deadline(body: HTTPBody) async throws {
        let client = client(
            StubTransport { request in
                try await untilCancelled()
                return HTTPResponse(status: 200, request: request)
            }, body: body)
        var request = HTTPRequest("/")
        request.deadline = .seconds(1)
        let call = Task { [request] in try await client.send(request) }
        await bench.clock.waitForSleepers(1)
        bench.clock.advance(by: .seconds(1))
        let response = try await call.value
        #expect(response.isFallback && response.body.text == "yesterday")
    }
}
