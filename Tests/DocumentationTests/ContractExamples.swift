import Foundation
import Midstream
import MidstreamTesting
import Testing

/// The names and signatures that were promised first, each used: what doesn't compile here breaks programs.
@Suite("The names that outside code is written against", .timeLimit(.minutes(10)))
struct ContractExamples {
    struct Doubling: Interceptor {
        func intercept(_ input: Int, next: Next<Int, String>) async throws -> String { try await next(input * 2) }
    }

    struct Increment: CompletionInterceptor {
        func intercept(
            _ input: Int, next: CompletionNext<Int, String>, completion: @escaping @Sendable (Result<String, any Error>) -> Void
        ) {
            next(input + 1) { result in completion(result) }
        }
    }

    @Test func interception() async throws {
        let star = ClosureInterceptor<Int, String> { input, next in try await next(input) + "*" }
        let both: [any Interceptor<Int, String>] = [Doubling().chain(before: Increment()), star.chain(after: Doubling())]
        let joined = ChainedInterceptor<Int, String>.chain(inOrder: both)
        let chain = InterceptorChain<Int, String>([joined], terminal: { "\($0)" }).adding(star)
        #expect(try await chain.proceed(1) == "6**")
        let callbacks = InterceptorChain<Int, String>([], completionTerminal: { $1(.success("\($0)")) })
        let task: Task<Void, Never> = callbacks.proceed(1) { result in #expect((try? result.get()) == "1") }
        await task.value
    }

    @Test func values() {
        let (method, status): (HTTPMethod, HTTPStatus) = (HTTPMethod(rawValue: "PUT"), 404)
        #expect(method == "PUT" && method.isIdempotent && HTTPMethod.get.isSafe)
        #expect(status > .ok && status.code == 404 && status.reason == "Not Found" && !status.isSuccess)
        let statuses: HTTPStatusSet = [200, 404]
        #expect(statuses.contains(status) && HTTPStatusSet.success != .successAndRedirect)
        var headers: HTTPHeaders = [.contentType: "text/plain", .retryAfter: "1"]
        headers.add(HTTPHeaders.Name("x-a"), "1")
        headers.add("X-A", "2")
        headers.remove(.retryAfter)
        headers[.authorization] = "secret"
        #expect(headers["X-A"] == "1, 2" && headers.values("X-A") == ["1", "2"])
        #expect(headers.map { $0.value } == ["text/plain", "1", "2", "secret"])
    }

    @Test func bodies() async throws {
        let chunks: @Sendable () -> AsyncStream<[UInt8]> = { AsyncStream { $0.finish() } }
        let once = HTTPBody.once(chunks(), length: 0)
        #expect(once.replayability == .once && once.length == 0 && once.bytes == nil)
        let json = try HTTPBody.json(["a": 1], encoder: JSONEncoder())
        let bodies: [HTTPBody] = [
            .empty, .bytes([1]), json, .form([("a", "b")]), .multipart(MultipartForm([.field("a", "b")])),
            .file(URL(fileURLWithPath: "/dev/null")), .stream(length: 0, chunks),
        ]
        #expect(bodies.allSatisfy { $0.replayability == .replayable })
        for try await chunk in json { #expect(try await json.collect(upTo: 100) == chunk) }
    }

    enum Mark: RequestContextKey { static let defaultValue = 0 }

    @Test func messages() throws {
        var request = HTTPRequest(.put, "users", headers: [:], body: .bytes([1]))
        #expect(request.id != HTTPRequest("users", headers: [:]).id && request.attempt == 1)
        (request.method, request.headers, request.body) = (.post, [.accept: "a"], .empty)
        request.url = try #require(URL(string: "https://h/a"))
        (request.timeout, request.deadline, request.maxRetries, request.allowsUnsafeRetry) = (.seconds(1), .seconds(2), 3, true)
        (request.interceptors, request.validators, request.context[Mark.self]) = ([Both()], [Judge()], 1)
        request.addQuery("q", "1")
        #expect(request.curlCommand(includingSecrets: true).contains("https://h/a?q=1"))
        var response = HTTPResponse(status: .ok, headers: [:], body: .bytes(Array("[1]".utf8)), request: request)
        (response.status, response.headers, response.trailers) = (.created, ["X-A": "1"], nil)
        #expect(try response.decode([Int].self, decoder: JSONDecoder()) == [1])
        #expect(response.data.count == 3 && response.url == request.url && response.version == .http1_1)
        #expect(response.trace.spans.isEmpty && response.metrics == nil && response.request.id == request.id)
        let error = HTTPError(.timeout, "late", request: request, response: response, underlying: CancellationError())
        #expect(error.message == "late" && error.trace == nil && error.underlying is CancellationError)
        #expect(error.request?.id == request.id && error.response?.status == .created)
        let codes: [HTTPError.Code] = [
            .invalidRequest, .nameResolution, .connection, .tls, .timeout, .deadlineExceeded, .connectionLost, .protocolViolation,
            .tooManyRedirects, .unacceptableStatus, .emptyResponse, .bodyTooLarge, .bodyNotReplayable, .decoding, .validation,
            .retriesExhausted, .authentication,
        ]
        #expect(codes.contains(error.code))
    }

    struct Both: RequestInterceptor, ResponseInterceptor {
        let stage = InterceptorStage.exchange
        func intercept(request: inout HTTPRequest) async throws { request.headers["X-Both"] = "1" }
        func intercept(response: inout HTTPResponse) async throws { response.headers["X-Both"] = "1" }
    }

    struct Hooks: LifecycleInterceptor {
        func modifyRequest(_ request: HTTPRequest) async throws -> HTTPRequest { request }
        func modifyResponse(_ response: HTTPResponse) async throws -> HTTPResponse { response }
        func willSend(_ request: HTTPRequest) async {}
        func didReceiveSuccess(_ response: HTTPResponse) async throws {}
        func didReceiveFailure(_ error: any Error, for request: HTTPRequest) async {}
    }

    struct Judge: HTTPValidator {
        func validate(_ response: HTTPResponse, for request: HTTPRequest) async throws -> HTTPVerdict {
            response.status == .noContent ? .nextWith(response) : .next
        }
        func validate(_ error: any Error, for request: HTTPRequest) async throws -> HTTPVerdict {
            request.attempt < 3 ? .retry(.immediate) : .fail(error)
        }
    }

    struct Tokens: Authenticator {
        func apply(_ credential: String, to request: inout HTTPRequest) async throws { request.headers["X-Token"] = credential }
        func isRejected(_ response: HTTPResponse, using credential: String) -> Bool { response.status == .unauthorized }
        func needsRefresh(_ credential: String) -> Bool { false }
        func refresh(_ credential: String?) async throws -> String { "new" }
    }

    struct Echo: HTTPTransport {
        func send(_ request: HTTPRequest) async throws -> HTTPResponse {
            HTTPResponse(status: .ok, headers: request.headers, body: request.body, request: request)
        }
    }

    @Test func client() async throws {
        var configuration = HTTPClient.Configuration()
        (configuration.headers, configuration.query) = (["X-Client": "1"], [("q", "1")])
        (configuration.timeout, configuration.deadline, configuration.maxRetries) = (.seconds(9), .seconds(9), 1)
        (configuration.redirects, configuration.maximumBufferedBody) = (.follow(limit: 10), 100)
        configuration.clock = ContinuousClock()
        let strategies: [RetryStrategy] = [
            .immediate, .delayed(.seconds(1)), .fibonacci(unit: .seconds(1), cap: .seconds(9)), .custom { _ in .zero },
            .exponential(base: .seconds(1), multiplier: 2, cap: .seconds(9), jitter: true),
            .after(HTTPRequest("a"), delay: .zero, then: { _, _ in }), .afterTask(delay: .zero, { _ in }, onError: { _ in }),
        ]
        configuration.validators = [
            DefaultValidator(
                allowsEmptyResponses: true, acceptableStatus: .success, retriableStatus: [503: strategies[1]],
                retriableErrors: [.timeout: strategies[2]]),
            AlternateRequestValidator(statuses: [401], alsoWithoutResponse: false, request: { _, _ in nil }, then: { _, _ in }),
            AlternateTaskValidator(statuses: [403], work: { _ in }), CallbackValidator { _, _ in .next }, Judge(),
        ]
        let client = HTTPClient(baseURL: "https://api.example.com", configuration: configuration, transport: Echo()) {
            Both().at(.exchange).chain(before: Hooks())
            Hooks().chain(after: ClosureHTTPInterceptor { request, next in try await next(request) })
            ChainedRequestInterceptor.chain(inOrder: [Both(), ClosureRequestInterceptor { $0.headers["X-Down"] = "1" }])
            ChainedResponseInterceptor.chain(inOrder: [Both(), ClosureResponseInterceptor { $0.headers["X-Up"] = "1" }])
            ChainedHTTPInterceptor.chain(inOrder: [])
            AuthenticationInterceptor(Tokens(), credential: "old")
        }
        let request = HTTPRequest(.post, "users", body: .text("hello"))
        let headers = try await client.send(request).headers
        #expect(headers["X-Client"] == "1" && headers["X-Down"] == "1" && headers["X-Up"] == "1" && headers["X-Token"] == "old")
        #expect(HTTPClient.shared.baseURL == nil && "\(client.pipeline)".contains("Hooks"))
        #expect(try await client.stream(request).body.collect() == Array("hello".utf8))
        let explanation = try await client.explain(request)
        #expect("\(explanation)".contains("X-Both"))
    }

    struct Counting: RequestTaskModifier {
        typealias Input = TaskResult<Data>
        func body(_ task: Content) async throws -> Int { try await task.result().payload.count }
    }

    struct Watching: RequestTaskInterceptor {
        let seen: Recorder
        func output(_ result: Result<Int, any Error>) { seen.write("output") }
    }

    @Test func tasks() async throws {
        let seen = Recorder()
        let stub = StubTransport { HTTPResponse(status: .ok, body: .text(#"{"items": [1, 2]}"#), request: $0) }
        let client = HTTPClient(baseURL: "https://api.example.com", transport: stub)
        let task: DataTask = client.post("a").header(.accept, "b").query("c", 1).body(.empty).timeout(.seconds(9)).retries(1)
        let checked = task.acceptOnlyStatusCode([200]).onStatusCode(.notFound) { seen.write("404") }
            .onStatusCode(400..<500) { _ in seen.write("4xx") }
        let items = checked.keyPath(\.items).decode([Int].self).extractPayload()
        let counted = items.map { $0.count }.mapError { _ in 0 }
        let watched = counted.flatMap { try $0.get() }.flatMapError { _ in }.detach { _ in }.progress { _ in }.logInConsole(false)
        #expect(try await watched.interceptor(Watching(seen: seen)).result() == 2)
        #expect(try await task.streamed().collectData().modifier(Counting()).result() == 17)
        let result = TaskResult(head: ResponseHead(status: .ok), payload: 1)
        #expect(seen.events == ["output"] && result.head.status == .ok && result.payload == 1 && stub.requests.count == 2)
    }

    @Test func testing() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.respond { _ in .init(status: .accepted) }
        server.enqueue(.init(status: .created, headers: [:], body: .empty, fault: nil, delay: .zero))
        let client = HTTPClient(baseURL: server.url("/v1"))
        #expect(try await client.send(HTTPRequest("a")).status == .created)
        #expect(try await server.takeRequest().method == .get)
        #expect(server.requestCount == 1)
        let faults: [Fault] = [.disconnect(.beforeHead), .stall(.insideHead), .throttle(bytesPerSecond: 1), .garbage([0])]
        #expect(!faults.contains(.disconnect(.insideBody(afterBytes: 1))))
        let clock = TestClock()
        async let slept: Void = clock.sleep(for: .seconds(1))
        await clock.waitForSleepers(1)
        #expect(clock.sleepers == 1)
        clock.advance(by: .seconds(1))
        try await slept
    }
}
