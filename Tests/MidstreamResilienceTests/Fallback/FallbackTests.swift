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
