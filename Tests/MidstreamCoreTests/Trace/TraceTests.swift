import Foundation
import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

private struct AddsHeader: RequestInterceptor {
    func intercept(request: inout HTTPRequest) async throws {
        request.headers["X-Added"] = "shown"
        request.headers[.authorization] = "Bearer S3CRET"
        request.headers["X-Gone"] = nil
        request.headers["X-Changed"] = "2"
        request.method = .put
        request.body = .text("new")
        request.addQuery("api_key", "S3CRET")
    }
}

private struct ChangesResponse: ResponseInterceptor {
    func intercept(response: inout HTTPResponse) async throws {
        response.status = .created
        response.headers["X-Up"] = "1"
        response.body = .text("other")
    }
}

private struct Retries: HTTPInterceptor {
    func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        do { return try await next(request) } catch {
            request.note("again, since the first try failed")
            return try await next(request)
        }
    }
}

private struct FromCache: HTTPInterceptor {
    var stage: InterceptorStage { .exchange }
    func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        request.note("fresh")
        return HTTPResponse(status: .ok, request: request)
    }
}

private struct Passes: HTTPInterceptor {
    func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        try await next(request)
    }
}

@Suite("Traces", .leavesNothing)
struct TraceTests {
    private func client(
        _ stub: StubTransport = .ok, recordsTrace: Bool = true, @PipelineBuilder _ interceptors: () -> [any HTTPInterceptor]
    ) -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        configuration.recordsTrace = recordsTrace
        return testClient(configuration: configuration, transport: stub, interceptors: interceptors)
    }

    /// The spans that lie one in the other, outermost first.
    private func line(_ trace: Trace) -> [Trace.Span] {
        var spans: [Trace.Span] = []
        var next = trace.spans.first
        while let span = next {
            spans.append(span)
            next = span.children.first
        }
        return spans
    }

    private func span(_ name: String, of trace: Trace) throws -> Trace.Span {
        try #require(line(trace).first { $0.name == name })
    }

    @Test("each pass has its name, stage and scope, in order, one in the other")
    func order() async throws {
        let client = client {
            FromCacheNot()
            Passes()
            Passes().at(.call)
        }
        var request = HTTPRequest("https://h/x")
        request.interceptors = [AddsHeader()]
        let spans = line(try await client.send(request).trace)
        #expect(
            spans.map(\.name) == ["Passes", "Arbiter", "AddsHeader", "Passes", "Redirects", "FromCacheNot", "StubTransport"])
        #expect(spans.map(\.stage) == [.call, .call, .attempt, .attempt, .attempt, .exchange, nil])
        #expect(spans.map(\.scope) == [.client, .builtIn, .request, .client, .builtIn, .client, .client])
        for (outer, inner) in zip(spans, spans.dropFirst()) {
            #expect(outer.startNanoseconds <= inner.startNanoseconds)
            #expect(try #require(outer.duration) >= #require(inner.duration))
        }
        #expect(spans.allSatisfy { $0.status == 200 && $0.failure == nil && $0.attempt == 1 && !$0.isShortCircuit })
    }

    private struct FromCacheNot: HTTPInterceptor {
        var stage: InterceptorStage { .exchange }
        func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
            try await next(request)
        }
    }

    @Test("a change of the status, of one field, or of the body alone is told", arguments: ["status", "field", "body"])
    func singleChange(of part: String) async throws {
        let client = client {
            ClosureResponseInterceptor { response in
                switch part {
                case "status": response.status = .created
                case "field": response.headers["X-Up"] = "1"
                default: response.body = .text("new")
                }
            }
        }
        let trace = try await client.send(HTTPRequest("https://h/x")).trace
        let told = ["status": "status: 201 Created", "field": "+ X-Up: 1"][part] ?? "body replaced"
        #expect(try span("ClosureResponseInterceptor", of: trace).responseChanges == [told])
    }

    @Test("what an interceptor changed is told by name, with secrets withheld")
    func changes() async throws {
        let client = client {
            AddsHeader()
            ChangesResponse()
            Passes()
        }
        let trace = try await client.send(
            HTTPRequest(.post, "https://h/x", headers: ["X-Gone": "1", "X-Changed": "1"], body: .text("old"))
        ).trace
        #expect(
            try span("AddsHeader", of: trace).requestChanges == [
                "method: PUT", "url: https://h/x?api_key=‹withheld›", "~ X-Changed: 2", "+ X-Added: shown",
                "+ Authorization: ‹withheld›", "- X-Gone", "body replaced",
            ])
        #expect(try span("ChangesResponse", of: trace).requestChanges.isEmpty)
        #expect(
            try span("ChangesResponse", of: trace).responseChanges == ["status: 201 Created", "+ X-Up: 1", "body replaced"])
        #expect(try span("ChangesResponse", of: trace).status == 201)
        for name in ["Passes", "Redirects", "StubTransport"] {
            let span = try span(name, of: trace)
            #expect(span.requestChanges.isEmpty && span.responseChanges.isEmpty)
        }
    }

    @Test("a header that is marked later was secret before, too")
    func markedLater() async throws {
        let client = client {
            ClosureRequestInterceptor { $0.headers["X-Mine"] = "S3CRET" }
            ClosureRequestInterceptor { $0.headers.markSensitive("X-Mine") }
        }
        let trace = try await client.send(HTTPRequest("https://h")).trace
        #expect(!"\(trace)".contains("S3CRET"))
        #expect("\(trace)".contains("+ X-Mine: ‹withheld›"))
    }

    @Test("an answer without asking further is a short circuit, with its reason")
    func shortCircuit() async throws {
        let trace = try await client { FromCache() }.send(HTTPRequest("https://h")).trace
        let span = try span("FromCache", of: trace)
        #expect(span.isShortCircuit && span.children.isEmpty && span.notes == ["fresh"] && span.status == 200)
        #expect(!line(trace).contains { $0.name == "StubTransport" })
    }

    @Test("each call of next is a child, and failures are told in words")
    func retries() async throws {
        let stub = StubTransport(sequence: [.fail(HTTPError(.connection, "refused")), .respond(.ok)])
        let trace = try await client(stub) { Retries() }.send(HTTPRequest("https://h")).trace
        let span = try span("Retries", of: trace)
        #expect(span.children.count == 2 && span.notes == ["again, since the first try failed"])
        #expect(span.children[0].failure == "connection: refused" && span.children[0].status == nil)
        #expect(span.children[1].failure == nil && span.children[1].status == 200)
    }

    @Test("a note of an interceptor that another one runs itself is put down to that one")
    func nestedNotes() async throws {
        let noting = ClosureHTTPInterceptor { request, next in
            request.note("passed")
            return try await next(request)
        }
        let chain = noting.chain(before: FromCache())
        let trace = try await client { ClosureHTTPInterceptor { try await chain.intercept($0, next: $1) } }
            .send(HTTPRequest("https://h")).trace
        #expect(line(trace).map(\.notes) == [[], ["passed", "fresh"]])
    }

    private enum Trouble: Error { case small, large(String) }
    private struct Speaking: Error, CustomStringConvertible { let description = "S3CRET" }

    @Test("of an unknown error only its name is told")
    func failures() async {
        let cases: [(any Error, String)] = [
            (Trouble.small, "Trouble.small"), (Trouble.large("S3CRET"), "Trouble.large"), (Speaking(), "Speaking"),
            (CancellationError(), "cancelled"), (Failure("S3CRET"), "Failure"),
        ]
        for (error, expected) in cases {
            let seen = Locked<HTTPRequest?>(nil)
            let client = client(StubTransport { _ in throw error }) {
                ClosureHTTPInterceptor(stage: .call) { request, next in
                    seen.withLock { $0 = request }
                    do { return try await next(request) } catch { throw HTTPError(.connection, "gave up") }
                }
            }
            let trace = await httpError { try await client.send(HTTPRequest("https://h")) }?.trace
            #expect(trace.map { line($0) }?.last?.failure == expected)
            #expect(trace?.spans.first?.failure == "connection: gave up")
        }
    }

    @Test("an error carries the trace up to the failure")
    func errorTrace() async {
        let error = await httpError { try await client(StubTransport(status: 500)) { Passes() }.send(HTTPRequest("https://h")) }
        let spans = error?.trace.map { line($0) } ?? []
        #expect(spans.map(\.name) == ["Arbiter", "Passes", "Redirects", "StubTransport"])
        #expect(spans.first?.failure == "unacceptableStatus: The server answered 500 Internal Server Error.")
        #expect(spans.last?.status == 500)
    }

    @Test("it prints as a tree")
    func printed() async throws {
        let stub = StubTransport(sequence: [.fail(HTTPError(.connection, "refused")), .respond(.ok)])
        let trace = try await client(stub) {
            Retries()
            AddsHeader().at(.exchange)
        }.send(HTTPRequest("https://h/x")).trace
        let text = trace.description.replacing(/\ *\d+\.\d{3} +\d+\.\d{3}/, with: " 0 0")
        #expect(
            text == """
                GET https://h/x → 200 OK
                call
                 0 0  Arbiter
                  attempt 1
                 0 0  Retries
                                       · again, since the first try failed
                 0 0  Redirects
                    exchange
                 0 0  AddsHeader
                                         method: PUT
                                         url: https://h/x?api_key=‹withheld›
                                         + X-Added: shown
                                         + Authorization: ‹withheld›
                                         + X-Changed: 2
                                         body replaced
                 0 0  StubTransport ✗ connection: refused
                 0 0  Redirects
                    exchange
                 0 0  AddsHeader
                                         method: PUT
                                         url: https://h/x?api_key=‹withheld›
                                         + X-Added: shown
                                         + Authorization: ‹withheld›
                                         + X-Changed: 2
                                         body replaced
                 0 0  StubTransport → 200 OK
                """)
    }

    @Test("it encodes to JSON, which decodes to the same spans")
    func json() async throws {
        let trace = try await client { AddsHeader() }.send(HTTPRequest("https://h/x")).trace
        let data = try JSONEncoder().encode(trace)
        #expect(try JSONDecoder().decode([Trace.Span].self, from: data) == trace.spans)
        #expect(!String(decoding: data, as: UTF8.self).contains("S3CRET"))
    }

    @Test("nothing is recorded where it is turned off")
    func turnedOff() async throws {
        let client = client(recordsTrace: false) { FromCache() }
        let trace = try await client.send(HTTPRequest("https://h")).trace
        #expect(trace.spans.isEmpty && "\(trace)" == "nothing was recorded")
    }

    @Test("a call that goes on and on fills no memory")
    func endless() async throws {
        let endless = ClosureHTTPInterceptor { request, next in
            for number in 0..<3_000 {
                var request = request
                request.headers["X-Number"] = "\(number)"
                request.note("\(number)")
                _ = try await next(request)
            }
            return try await next(request)
        }
        let trace = try await client { endless }.send(HTTPRequest("https://h")).trace
        #expect(trace.droppedSpans > 0 && trace.spans.count == 1)
        #expect("\(trace)".hasSuffix("\(trace.droppedSpans) passes more, which were not kept"))
    }

    @Test("nor do the interim responses of one")
    func endlessInterimResponses() async throws {
        var metrics = TransportMetrics()
        metrics.interim = Array(repeating: InterimResponse(status: 103), count: 100)
        let transport = StubTransport { [metrics] in HTTPResponse(status: .ok, request: $0, metrics: metrics) }
        let endless = ClosureHTTPInterceptor { request, next in
            for _ in 0..<50 { _ = try await next(request) }
            return try await next(request)
        }
        let trace = try await client(transport) { endless }.send(HTTPRequest("https://h")).trace
        #expect(1_000...2_000 ~= trace.events(named: "transport.interim").count)
    }

    @Test("what the transport did by itself is told of an exchange that failed, too")
    func failedExchange() async throws {
        var metrics = TransportMetrics()
        metrics.interim = [InterimResponse(status: 103)]
        metrics.resends = 1
        let failure = HTTPError(.connectionLost, metrics: metrics)
        let client = client(StubTransport { _ in throw failure }) { AddsHeader() }
        let trace = await httpError { try await client.send(HTTPRequest("https://h")) }?.trace
        for name in ["transport.interim", "transport.resend"] { #expect(trace?.events(named: name).count == 1) }
    }

    @Test("calls at the same time keep their traces apart")
    func concurrent() async throws {
        let client = client { AddsHeader() }
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<50 {
                group.addTask {
                    let trace = try await client.send(HTTPRequest("https://h/\(number)")).trace
                    return trace.spans.count == 1 && trace.spans[0].request == "GET https://h/\(number)"
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }

    @Test("passes that run at the same time are told apart, and which one's answer came up")
    func concurrentChildren() async throws {
        let bothArrived = TestClock()
        let stub = StubTransport { request in
            try await bothArrived.sleep(for: .seconds(1))
            return HTTPResponse(status: .ok, headers: ["X-From": request.headers["X-To"] ?? ""], request: request)
        }
        let client = testClient(transport: stub) {
            ClosureHTTPInterceptor("Both") { request, next in
                try await withThrowingTaskGroup(of: HTTPResponse.self) { group in
                    for number in ["1", "2"] {
                        var copy = request
                        copy.headers["X-To"] = number
                        let sent = copy
                        group.addTask { try await next(sent) }
                    }
                    var first: HTTPResponse?
                    for try await response in group where response.headers["X-From"] == "1" { first = response }
                    request.note("took the first")
                    return try #require(first)
                }
            }
        }
        let call = Task { try await client.send(HTTPRequest("https://h/")) }
        await bothArrived.waitForSleepers(2)
        bothArrived.advance(by: .seconds(1))
        let trace = try await call.value.trace
        let both = try #require(trace.allSpans.first { $0.name == "Both" })
        #expect(both.notes == ["took the first"] && !both.isConcurrent)
        #expect(both.children.count == 2 && both.children.allSatisfy(\.isConcurrent))
        #expect(both.children.filter(\.cameUp).count == 1 && both.responseChanges.isEmpty)
        #expect("\(trace)".contains("its answer came up"))
    }
}
