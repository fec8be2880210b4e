import Foundation
import Midstream
import MidstreamTesting
import Testing

@Suite("Guide.md")
struct GuideExamples {
    private let page = MarkdownPage(path: "Documentation/Guide.md")

    enum StepOne {
        /// Answers with the last good response when the server fails.
        struct LastGoodAnswer: HTTPInterceptor {
            func intercept(
                _ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>
            ) async throws -> HTTPResponse {
                try await next(request)
            }
        }
    }

    /// The good answers of the last requests, by URL.
    actor AnswerMemory {
        struct Answer: Sendable {
            let status: HTTPStatus
            let headers: HTTPHeaders
            let bytes: [UInt8]
        }

        private var answers: [String: Answer] = [:]
        private var oldestFirst: [String] = []
        private let limit: Int

        init(limit: Int) { self.limit = limit }

        func keep(_ answer: Answer, for url: String) {
            oldestFirst.removeAll { $0 == url }
            oldestFirst.append(url)
            answers[url] = answer
            if oldestFirst.count > limit { answers[oldestFirst.removeFirst()] = nil }
        }

        func answer(for url: String) -> Answer? { answers[url] }
    }

    enum StepTwo {
        struct LastGoodAnswer: HTTPInterceptor {
            private let memory = AnswerMemory(limit: 100)

            func intercept(
                _ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>
            ) async throws -> HTTPResponse {
                guard request.method == .get else { return try await next(request) }
                let response = try await next(request)
                if response.status == .ok, let bytes = response.body.bytes {
                    let answer = AnswerMemory.Answer(
                        status: response.status, headers: response.headers, bytes: bytes)
                    await memory.keep(answer, for: request.urlText)
                }
                return response
            }
        }
    }

    /// Answers with the last good response when the server can't be reached or fails.
    struct LastGoodAnswer: HTTPInterceptor {
        let stage = InterceptorStage.call
        private let memory = AnswerMemory(limit: 100)

        func intercept(
            _ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>
        ) async throws -> HTTPResponse {
            guard request.method == .get else { return try await next(request) }
            do {
                let response = try await next(request)
                await keep(response, for: request)
                return response
            } catch let error as HTTPError where error.isTheServersFault {
                guard let answer = await memory.answer(for: request.urlText) else { throw error }
                error.response?.body.close()
                request.note("the last good answer, since: \(error.code)")
                var response = HTTPResponse(
                    status: answer.status, headers: answer.headers, body: .bytes(answer.bytes),
                    request: request)
                response.headers["X-Last-Good-Answer"] = "1"
                return response
            }
        }

        func plan(_ request: inout HTTPRequest) async throws -> RequestPlan {
            .known(request.method == .get ? "answers with the last good response if the server fails" : nil)
        }

        private func keep(_ response: HTTPResponse, for request: HTTPRequest) async {
            guard response.status == .ok, let bytes = response.body.bytes else { return }
            let answer = AnswerMemory.Answer(
                status: response.status, headers: response.headers, bytes: bytes)
            await memory.keep(answer, for: request.urlText)
        }
    }

    @Test("The first step passes everything through")
    func passesThrough() async throws {
        try await assertInterceptorLaws { StepOne.LastGoodAnswer() }
        try await assertInterceptorLaws { StepTwo.LastGoodAnswer() }
    }

    @Test("Its place, its plan and its note can be seen")
    func shown() async throws {
        let transport = StubTransport(sequence: [
            .respond(.ok, body: .text("sunny")), .fail(HTTPError(.connection, "No route to the server.", phase: .notSent)),
        ])
        let client = HTTPClient(baseURL: "https://weather.example.com", transport: transport) {
            LastGoodAnswer()
        }
        let request = HTTPRequest("today")

        _ = try await client.send(request)  // the server answers: sunny
        let response = try await client.send(request)  // the server is gone: still sunny
        print(response.trace)
        #expect(response.data == Data("sunny".utf8))
        try page.expectBlock(printing: "\(response.trace)")
        let step = try await client.explain(request).steps.first
        #expect(step?.plan.text == "answers with the last good response if the server fails")
    }

    @Test("Answers with the last good response when the server can't be reached")
    func answersFromMemory() async throws {
        let transport = StubTransport(sequence: [
            .respond(.ok, body: .text("sunny")),
            .fail(HTTPError(.connection)),
            .respond(.serviceUnavailable),
            .respond(.notFound),
        ])
        let client = HTTPClient(transport: transport) { LastGoodAnswer() }
        let request = HTTPRequest("https://weather.example.com/today")

        #expect(try await client.send(request).headers["X-Last-Good-Answer"] == nil)
        for _ in 1...2 {
            let response = try await client.send(request)
            #expect(response.data == Data("sunny".utf8))
            #expect(response.headers["X-Last-Good-Answer"] == "1")
        }
        // A 404 is an answer, not a failure of the server.
        await #expect {
            try await client.send(request)
        } throws: { error in
            (error as? HTTPError)?.response?.status == .notFound
        }
        #expect(transport.requests.count == 4)
    }

    @Test("Covers a connection that breaks in the middle of the body")
    func brokenConnection() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(
            .init(body: "sunny"),
            .init(body: "rain", fault: .disconnect(.insideBody(afterBytes: 2))))

        let client = HTTPClient(baseURL: server.url()) { LastGoodAnswer() }
        let first = try await client.send(HTTPRequest("today"))
        let second = try await client.send(HTTPRequest("today"))
        #expect(first.data == Data("sunny".utf8))
        #expect(second.data == Data("sunny".utf8))
        #expect(server.requestCount == 2)
    }

    @Test("Keeps to the laws of interceptors", .timeLimit(.minutes(10)))
    func laws() async throws {
        try await assertInterceptorLaws { LastGoodAnswer() }
    }
}

extension HTTPError {
    /// Whether the server couldn't be reached or failed, rather than refused.
    var isTheServersFault: Bool {
        switch code {
        case .nameResolution, .connection, .connectionLost, .timeout: true
        case .unacceptableStatus, .retriesExhausted: response?.status.isServerError ?? true
        default: false
        }
    }
}
