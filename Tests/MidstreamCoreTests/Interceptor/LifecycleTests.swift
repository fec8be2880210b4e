import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

/// Notes each hook that it hears, and throws where it is told to.
private struct Hooks: LifecycleInterceptor {
    let name: String
    let steps: Steps
    var throwing: String?
    var stage: InterceptorStage = .attempt

    private func heard(_ hook: String) throws {
        steps.note("\(name) \(hook)")
        if throwing == hook { throw Failure(hook) }
    }

    func modifyRequest(_ request: HTTPRequest) async throws -> HTTPRequest {
        try heard("modifyRequest")
        var request = request
        request.headers.add("X-Way", name)
        return request
    }

    func modifyResponse(_ response: HTTPResponse) async throws -> HTTPResponse {
        try heard("modifyResponse")
        var response = response
        response.headers.add("X-Way", name)
        return response
    }

    func willSend(_ request: HTTPRequest) async {
        steps.note("\(name) willSend \(request.headers.values("X-Way").joined())")
    }

    func didReceiveSuccess(_ response: HTTPResponse) async throws {
        steps.note("\(name) saw \(response.status.code) \(response.headers.values("X-Way").joined())")
        try heard("didReceiveSuccess")
    }

    func didReceiveFailure(_ error: any Error, for request: HTTPRequest) async {
        let text = (error as? Failure)?.reason ?? (error as? HTTPError)?.code.rawValue ?? "\(type(of: error))"
        steps.note("\(name) failed: \(text) \(request.headers.values("X-Way").joined())")
    }
}

@Suite("B. Lifecycle hooks", .leavesNothing)
struct LifecycleTests {
    private let steps = Steps()
    private let request = HTTPRequest("https://h")

    private func hooks(_ name: String, throwing: String? = nil) -> Hooks {
        Hooks(name: name, steps: steps, throwing: throwing)
    }

    @Test("B1 a type that implements none compiles and does nothing")
    func none() async throws {
        struct Nothing: LifecycleInterceptor {}
        let stub = StubTransport(status: .ok, headers: ["A": "1"], body: .text("x"))
        let client = testClient(transport: stub) { Nothing() }
        let response = try await client.send(request)
        #expect(response.status == .ok && response.headers["A"] == "1" && response.body.text == "x")
        #expect(stub.requests.first?.urlText == "https://h")
        #expect(Nothing().stage == .attempt)
    }

    @Test("B2 modifyRequest runs in list order, modifyResponse in reverse: an onion; B3 and B4 in between")
    func onion() async throws {
        let client = testClient(transport: StubTransport.ok) {
            hooks("a")
            hooks("b")
        }
        let response = try await client.send(request)
        #expect(response.headers.values("X-Way") == ["b", "a"])
        #expect(
            steps.all == [
                "a modifyRequest", "a willSend a", "b modifyRequest", "b willSend ab",
                "b saw 200 ", "b didReceiveSuccess", "b modifyResponse",
                "a saw 200 b", "a didReceiveSuccess", "a modifyResponse",
            ])
    }

    @Test("B3 willSend sees the request as this interceptor passes it on; at .exchange that is what goes on the wire")
    func willSendOnTheWire() async throws {
        let stub = StubTransport.ok
        let client = testClient(transport: stub) {
            Hooks(name: "wire", steps: steps, stage: .exchange)
            hooks("b")
        }
        _ = try await client.send(request)
        #expect(steps.all.contains("wire willSend bwire"))
        #expect(stub.requests.first?.headers.values("X-Way") == ["b", "wire"])
    }

    @Test("B4 didReceiveSuccess fires for any status", arguments: [200, 302, 404, 500])
    func anyStatus(code: Int) async {
        let client = testClient(transport: StubTransport(status: HTTPStatus(code))) { hooks("a") }
        _ = try? await client.send(request)
        #expect(steps.all.contains("a saw \(code) "))
        #expect(!steps.all.contains { $0.hasPrefix("a failed") })
    }

    @Test("B4 B5 a throw from didReceiveSuccess makes it a validator, and is heard as a failure last")
    func throwFromSuccess() async {
        let arriving = ArrivingBody()
        let client = testClient(transport: StubTransport(status: .ok, body: .incoming(arriving))) {
            hooks("a")
            hooks("b", throwing: "didReceiveSuccess")
        }
        await #expect(throws: Failure("didReceiveSuccess")) { try await client.stream(request) }
        #expect(
            steps.all.suffix(4) == [
                "b saw 200 ", "b didReceiveSuccess", "b failed: didReceiveSuccess ab", "a failed: didReceiveSuccess a",
            ])
        #expect(arriving.closings > 0)
    }

    @Test("B5 a throw from modifyResponse is heard as a failure last")
    func throwFromModifyResponse() async {
        let client = testClient(transport: StubTransport.ok) { hooks("a", throwing: "modifyResponse") }
        await #expect(throws: Failure("modifyResponse")) { try await client.send(request) }
        #expect(steps.all.suffix(3) == ["a didReceiveSuccess", "a modifyResponse", "a failed: modifyResponse a"])
    }

    @Test("B5 a throw from modifyRequest keeps the request back; those further out hear of it, this one has its own throw")
    func throwFromModifyRequest() async {
        let stub = StubTransport.ok
        let client = testClient(transport: stub) {
            hooks("a")
            hooks("b", throwing: "modifyRequest")
            hooks("c")
        }
        await #expect(throws: Failure("modifyRequest")) { try await client.send(request) }
        #expect(steps.all == ["a modifyRequest", "a willSend a", "b modifyRequest", "a failed: modifyRequest a"])
        #expect(stub.requests.isEmpty)
    }

    @Test("B5 a transport failure is heard once by each, from the inside out, and can't be replaced")
    func transportFailure() async {
        let client = testClient(transport: StubTransport(sequence: [.fail(HTTPError(.connection))])) {
            hooks("a")
            hooks("b")
        }
        #expect(await httpError { try await client.send(request) }?.code == .connection)
        #expect(steps.all.suffix(2) == ["b failed: connection ab", "a failed: connection a"])
        #expect(steps.all.filter { $0.contains("failed") }.count == 2)
        #expect(!steps.all.contains { $0.contains("saw") })
    }

    @Test("B5 cancellation counts as a failure")
    func cancellation() async {
        let (started, isStarted) = AsyncStream.makeStream(of: Void.self)
        let stub = StubTransport { request in
            isStarted.yield()
            try await untilCancelled()
            return HTTPResponse(status: .ok, request: request)
        }
        let client = testClient(transport: stub) { hooks("a") }
        let task = Task { try await client.send(request) }
        for await _ in started.prefix(1) {}
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(steps.all == ["a modifyRequest", "a willSend a", "a failed: CancellationError a"])
    }

    @Test("B5 the last thing heard of each of many sends is one success or one failure")
    func oneLastWord() async {
        for throwing in [nil, "didReceiveSuccess", "modifyResponse"] {
            for reply in [StubTransport.Reply.respond(.ok), .respond(500), .fail(Failure("wire"))] {
                let steps = Steps()
                let client = testClient(transport: StubTransport(sequence: [reply])) {
                    Hooks(name: "a", steps: steps, throwing: throwing)
                }
                let hasFailed = await Result(catching: { try await client.send(request) }).isFailure
                let failures = steps.all.filter { $0.contains("failed") }
                let isValidatorsFailure = hasFailed && throwing == nil && steps.all.contains("a saw 500 ")
                #expect(failures.count == (hasFailed && !isValidatorsFailure ? 1 : 0))
                #expect(steps.all.last?.contains("failed") == (failures.count == 1))
            }
        }
    }
}

extension Result where Failure == any Error {
    fileprivate init(catching work: () async throws -> Success) async {
        do { self = .success(try await work()) } catch { self = .failure(error) }
    }

    fileprivate var isFailure: Bool { if case .failure = self { true } else { false } }
}
