import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

/// Notes when a request passes down and a response passes up.
private struct Mark: HTTPInterceptor {
    let name: String
    let stage: InterceptorStage
    let steps: Steps

    func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        steps.note("\(name)↓")
        defer { steps.note("\(name)↑") }
        return try await next(request)
    }
}

@Suite("A4. Scopes and stages", .leavesNothing)
struct ScopeAndStageTests {
    private let steps = Steps()

    private func mark(_ name: String, _ stage: InterceptorStage = .attempt) -> Mark {
        Mark(name: name, stage: stage, steps: steps)
    }

    @Test("A4 request scope runs outside client scope, in every stage", arguments: InterceptorStage.allCases)
    func scopes(stage: InterceptorStage) async throws {
        let client = testClient(transport: StubTransport.ok) {
            mark("c1", stage)
            mark("c2", stage)
        }
        var request = HTTPRequest("https://h")
        request.interceptors = [mark("r1", stage), mark("r2", stage)]
        _ = try await client.send(request)
        #expect(steps.all == ["r1↓", "r2↓", "c1↓", "c2↓", "c2↑", "c1↑", "r2↑", "r1↑"])
    }

    @Test("A4 the stages of both scopes interleave: call, attempt, exchange")
    func interleaved() async throws {
        let client = testClient(transport: StubTransport.ok) {
            for stage in InterceptorStage.allCases.reversed() { mark("c.\(stage)", stage) }
        }
        var request = HTTPRequest("https://h")
        request.interceptors = InterceptorStage.allCases.reversed().map { mark("r.\($0)", $0) }
        _ = try await client.send(request)
        #expect(
            steps.all.prefix(6) == [
                "r.call↓", "c.call↓", "r.attempt↓", "c.attempt↓", "r.exchange↓", "c.exchange↓",
            ])
    }

    @Test("A4 a request's interceptors serve that request alone")
    func requestAlone() async throws {
        let client = testClient(transport: StubTransport.ok) { mark("c") }
        var request = HTTPRequest("https://h")
        request.interceptors = [mark("r")]
        _ = try await client.send(request)
        _ = try await client.send(HTTPRequest("https://h"))
        #expect(steps.all == ["r↓", "c↓", "c↑", "r↑", "c↓", "c↑"])
    }

    @Test("A4 a client-scope interceptor at .exchange sees exactly what goes on the wire and what came back")
    func wireLog() async throws {
        let steps = steps
        let stub = StubTransport(status: .ok, headers: ["X": "1"])
        let client = testClient(transport: stub) {
            ClosureHTTPInterceptor(stage: .exchange) { request, next in
                let response = try await next(request)
                steps.note(request.debugDescription)
                steps.note(response.headers.description)
                return response
            }
            ClosureResponseInterceptor { $0.headers["X"] = "2" }
        }
        var request = HTTPRequest("https://h")
        request.interceptors = InterceptorStage.allCases.map { stage in
            ClosureRequestInterceptor(stage: stage) { $0.headers.add("X-Stage", "\(stage)") }
        }
        _ = try await client.send(request)
        let sent = try #require(stub.requests.first)
        #expect(steps.all == [sent.debugDescription, "X: 1"])
        #expect(sent.headers.values("X-Stage") == ["call", "attempt", "exchange"])
    }

    @Test("stages are sorted stably, whatever the order of the list")
    func stableSort() async throws {
        let client = testClient(transport: StubTransport.ok) {
            mark("e1", .exchange)
            mark("a1")
            mark("k1", .call)
            mark("e2", .exchange)
            mark("a2")
            mark("k2", .call)
        }
        _ = try await client.send(HTTPRequest("https://h"))
        #expect(steps.all.prefix(6) == ["k1↓", "k2↓", "a1↓", "a2↓", "e1↓", "e2↓"])
    }

    @Test("at(_:) puts an interceptor, or a chain of them, at another stage")
    func moved() async throws {
        let client = testClient(transport: StubTransport.ok) {
            mark("x", .attempt).at(.exchange)
            mark("b", .exchange).chain(before: mark("c", .call)).at(.attempt)
            mark("y", .exchange).at(.attempt).at(.call)
        }
        #expect(mark("x").at(.exchange).stage == .exchange)
        _ = try await client.send(HTTPRequest("https://h"))
        #expect(steps.all.prefix(4) == ["y↓", "b↓", "c↓", "x↓"])
    }

    @Test("a chain's members go to their own stages")
    func chainAcrossStages() async throws {
        let client = testClient(transport: StubTransport.ok) {
            ChainedHTTPInterceptor.chain(inOrder: [mark("e", .exchange), mark("a"), mark("k", .call)])
            mark("a2")
        }
        _ = try await client.send(HTTPRequest("https://h"))
        #expect(steps.all.prefix(4) == ["k↓", "a↓", "a2↓", "e↓"])
    }

    @Test("so do those of a chain of request or of response interceptors, and at(_:) puts them all at one")
    func chainsOfOneKind() async throws {
        let steps = steps
        func down(_ name: String, _ stage: InterceptorStage = .attempt) -> ClosureRequestInterceptor {
            ClosureRequestInterceptor(stage: stage) { _ in steps.note("\(name)↓") }
        }
        func up(_ name: String, _ stage: InterceptorStage = .attempt) -> ClosureResponseInterceptor {
            ClosureResponseInterceptor(stage: stage) { _ in steps.note("\(name)↑") }
        }
        let downs: ChainedRequestInterceptor = down("a").chain(before: down("b"))
        let ups: ChainedResponseInterceptor = up("a").chain(before: up("b"))
        let requests = ChainedRequestInterceptor.chain(inOrder: [down("e", .exchange), downs, down("k", .call)])
        let responses = ChainedResponseInterceptor.chain(inOrder: [up("k", .call), ups, up("e", .exchange)])
        let client = testClient(transport: StubTransport.ok) {
            requests
            responses
        }
        _ = try await client.send(HTTPRequest("https://h"))
        #expect(steps.all == ["k↓", "a↓", "b↓", "e↓", "e↑", "a↑", "b↑", "k↑"])
        let moved = testClient(transport: StubTransport.ok) {
            requests.at(.exchange)
            responses.at(.exchange)
        }
        _ = try await moved.send(HTTPRequest("https://h"))
        #expect(steps.all.suffix(8) == ["e↓", "a↓", "b↓", "k↓", "k↑", "a↑", "b↑", "e↑"])
        #expect(moved.pipeline.entries.filter { $0.stage == .exchange }.count == 8)
    }

    @Test("client.pipeline prints the order by stage")
    func description() {
        struct Logger: HTTPInterceptor {
            var stage: InterceptorStage { .exchange }
            func intercept(
                _ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>
            ) async throws -> HTTPResponse { try await next(request) }
        }
        let client = testClient(transport: StubTransport.ok) {
            Logger()
            ClosureRequestInterceptor { _ in }
            Logger().at(.call)
        }
        #expect(
            client.pipeline.description == """
                call
                  Logger
                  Arbiter  (built in)
                attempt
                  ClosureRequestInterceptor
                  Redirects  (built in)
                exchange
                  Logger
                transport
                  StubTransport
                """)
        #expect(client.pipeline.entries.map(\.stage) == [.call, .call, .attempt, .attempt, .exchange])
        #expect(client.pipeline.entries.map(\.scope) == [.client, .builtIn, .client, .builtIn, .client])
    }

    @Test("a pipeline is built from if, for, switch, optionals and arrays", arguments: [true, false])
    func builder(isOn: Bool) async throws {
        let missing: Mark? = nil
        let listed: [any HTTPInterceptor] = [mark("list1"), mark("list2")]
        let client = testClient(transport: StubTransport.ok) {
            if isOn { mark("if") }
            if isOn { mark("then") } else { mark("else") }
            for number in 1...2 { mark("for\(number)") }
            switch isOn {
            case true: mark("case true")
            case false: mark("case false")
            }
            missing
            Optional(mark("some"))
            listed
            if #available(macOS 13, *) { mark("available") }
        }
        _ = try await client.send(HTTPRequest("https://h"))
        let expected = isOn ? ["if", "then", "for1", "for2", "case true"] : ["else", "for1", "for2", "case false"]
        let down = steps.all.filter { $0.hasSuffix("↓") }.map { String($0.dropLast()) }
        #expect(down == expected + ["some", "list1", "list2", "available"])
    }
}
