import Foundation
import Midstream
import MidstreamNetworkStatus
import MidstreamTesting
import Testing

@Suite("Retries.md", .timeLimit(.minutes(10)))
struct RetryExamples {
    private let page = MarkdownPage(path: "Documentation/Retries.md")

    @Test("Turning retries on, for a client and for a request")
    func turnedOn() async throws {
        let transport = StubTransport(status: .ok)
        var configuration = HTTPClient.Configuration()
        configuration.maxRetries = 3  // 0 by default
        configuration.timeout = .seconds(10)  // for each attempt; 60 s by default
        configuration.deadline = .seconds(30)  // for the whole call, up to the head of a stream; none by default

        let client = HTTPClient(
            baseURL: "https://api.example.com", configuration: configuration, transport: transport)

        var request = HTTPRequest("report")
        request.maxRetries = 5  // what a request says itself wins
        let response = try await client.send(request)
        #expect(response.status == .ok)
    }

    /// The service answers 200 with `"state": "pending"` until a report is ready.
    struct ReportIsReady: HTTPValidator {
        private struct Report: Decodable {
            let state: String
        }

        func validate(_ response: HTTPResponse, for request: HTTPRequest) async throws -> HTTPVerdict {
            switch try response.decode(Report.self).state {
            case "ready": .next
            case "pending": .retry(.delayed(.seconds(2)))
            case let other: .fail(HTTPError(.validation, "The report is \(other).", response: response))
            }
        }
    }

    @Test("A validator that waits")
    func pollingValidator() async throws {
        let clock = TestClock()
        let transport = StubTransport(sequence: [
            .respond(.ok, body: .text(#"{"state": "pending"}"#)),
            .respond(.ok, body: .text(#"{"state": "ready"}"#)),
            .respond(.ok, body: .text(#"{"state": "lost"}"#)),
        ])
        var configuration = HTTPClient.Configuration()
        configuration.maxRetries = 10
        configuration.validators = [DefaultValidator(), ReportIsReady()]
        configuration.clock = clock
        configuration.timeout = nil
        let client = HTTPClient(configuration: configuration, transport: transport)
        let answer = Task { try await client.send(HTTPRequest("https://api.example.com/report")) }
        await clock.waitForSleepers()
        #expect(clock.nextDeadline?.offset == .seconds(2))
        clock.advanceToLastDeadline()
        #expect(try await answer.value.request.attempt == 2)
        await #expect {
            try await client.send(HTTPRequest("https://api.example.com/report"))
        } throws: {
            ($0 as? HTTPError)?.message == "The report is lost."
        }
    }

    @Test("Validators for one request")
    func requestValidators() async throws {
        let client = HTTPClient(baseURL: "https://api.example.com", transport: StubTransport(status: .notFound))
        var request = HTTPRequest("users/43")
        request.acceptableStatus = [200, 404]
        let exists = try await client.send(request).status == .ok
        #expect(!exists)
    }

    /// The waits of a call whose every attempt is to be repeated, in seconds.
    private func waits(_ strategy: RetryStrategy, _ count: Int, headers: HTTPHeaders = [:]) async throws -> [Double] {
        let clock = TestClock()
        var configuration = HTTPClient.Configuration()
        configuration.maxRetries = count
        configuration.timeout = nil
        configuration.clock = clock
        configuration.retryBudget = nil
        // The longest that jitter makes of a delay.
        configuration.random = { 1 }
        configuration.validators = [CallbackValidator { _, _ in .retry(strategy) }]
        let transport = RecordingTransport(
            StubTransport(status: .serviceUnavailable, headers: headers), clock: clock)
        let client = HTTPClient(configuration: configuration, transport: transport)
        let call = Task { try await client.send(HTTPRequest("https://api.example.com/")) }
        let driver = Task {
            while !Task.isCancelled {
                await clock.waitForSleepers()
                clock.advanceToLastDeadline()
            }
        }
        _ = await call.result
        driver.cancel()
        let starts = transport.exchanges.map(\.start)
        return zip(starts, starts.dropFirst()).map { ($1 - $0) / .seconds(1) }
    }

    @Test(
        "E4 The delays are those of the table",
        arguments: [
            ("`.immediate`", RetryStrategy.immediate),
            ("`.delayed(.seconds(2))`", .delayed(.seconds(2))),
            ("`.exponential()`", .exponential()),
            (
                "`.exponential(base: .seconds(1), multiplier: 3, cap: .seconds(20))`",
                .exponential(base: .seconds(1), multiplier: 3, cap: .seconds(20))
            ),
            ("`.fibonacci()`", .fibonacci()),
            ("`.custom { .seconds($0.attempt) }`", .custom { .seconds($0.attempt) }),
        ])
    func delays(name: String, strategy: RetryStrategy) async throws {
        let delays = try await waits(strategy, 8).map { $0 == $0.rounded() ? "\(Int($0))" : "\($0)" }
        let row = "| \(name) | \(delays.joined(separator: ", ")) |"
        #expect(try page.lines().contains(row), "\(row)")
    }

    @Test("E4 Retry-After is a lower bound, and capped")
    func retryAfter() async throws {
        #expect(try await waits(.immediate, 1, headers: [.retryAfter: "7"]) == [7])
        #expect(try await waits(.delayed(.seconds(9)), 1, headers: [.retryAfter: "7"]) == [9])
        #expect(try await waits(.immediate, 1, headers: [.retryAfter: "7000"]) == [60])
        #expect(try await waits(.custom { _ in .seconds(1) }, 1, headers: [.retryAfter: "7"]) == [1])
        var configuration = HTTPClient.Configuration()
        configuration.maxRetries = 3
        configuration.maximumRetryAfter = .seconds(10)  // the longest that is honoured; 60 s by default
        configuration.sharesRetryAfter = true  // the other calls to that origin wait as well; redirects to it don't
        #expect(configuration.maximumRetryAfter == .seconds(10))
    }

    struct Failure: Sendable, CustomTestStringConvertible {
        let name: String
        let reply: StubTransport.Reply
        let get: String
        let post: String
        var testDescription: String { name }

        init(_ name: String, _ reply: StubTransport.Reply, get: String, post: String) {
            (self.name, self.reply, self.get, self.post) = (name, reply, get, post)
        }
    }

    @Test(
        "E8 E10 What is sent again is what the table says",
        arguments: [
            Failure("429, 502, 503, 504, 408", .respond(.serviceUnavailable), get: "yes", post: "no"),
            Failure("any other 4xx or 5xx", .respond(.internalServerError), get: "no", post: "no"),
            Failure(
                "connection refused, name not found", .fail(HTTPError(.connection, phase: .notSent)), get: "yes",
                post: "yes"),
            Failure("connection lost after sending", .fail(HTTPError(.connectionLost)), get: "yes", post: "no"),
            Failure("attempt timed out", .fail(HTTPError(.timeout)), get: "yes", post: "no"),
            Failure("TLS or proxy failure", .fail(HTTPError(.tls, phase: .notSent)), get: "no", post: "no"),
            Failure("an error of your own", .fail(CocoaError(.fileNoSuchFile)), get: "no", post: "no"),
            Failure("cancellation", .fail(CancellationError()), get: "no", post: "no"),
        ])
    func whatIsSentAgain(failure: Failure) async throws {
        func isSentAgain(_ method: HTTPMethod) async -> String {
            let transport = StubTransport(sequence: [failure.reply, .respond(.ok)])
            var configuration = HTTPClient.Configuration()
            configuration.maxRetries = 1
            configuration.validators = [
                DefaultValidator(
                    retriableStatus: DefaultValidator.usualStatus.mapValues { _ in .immediate },
                    retriableErrors: DefaultValidator.usualErrors.mapValues { _ in .immediate })
            ]
            let client = HTTPClient(configuration: configuration, transport: transport)
            _ = try? await client.send(HTTPRequest(method, "https://api.example.com/"))
            return transport.requests.count == 2 ? "yes" : "no"
        }
        #expect(await isSentAgain(.get) == failure.get)
        #expect(await isSentAgain(.post) == failure.post)
        let row = "| \(failure.name) | \(failure.get) | \(failure.post) |"
        #expect(try page.lines().contains(row), "\(row)")
    }

    @Test("E10 A POST that may be repeated")
    func repeatablePost() async throws {
        let order = Data(#"{"book": 7}"#.utf8)
        var request = HTTPRequest(.post, "orders", body: .data(order))
        request.headers[.idempotencyKey] = request.id.uuidString  // the server knows a second one
        request.maxRetries = 3
        let transport = StubTransport(sequence: [.fail(HTTPError(.connectionLost)), .respond(.created)])
        var configuration = HTTPClient.Configuration()
        configuration.validators = [DefaultValidator(retriableErrors: [.connectionLost: .immediate])]
        let client = HTTPClient(
            baseURL: "https://api.example.com", configuration: configuration, transport: transport)
        #expect(try await client.send(request).status == .created)

        var other = HTTPRequest(.post, "search", body: .data(order))
        other.allowsUnsafeRetry = true  // this POST changes nothing
        #expect(other.allowsUnsafeRetry)
    }

    private struct Problem: Decodable {
        let detail: String
    }

    @Test("The cause is caught, whatever the call makes of it")
    func causes() async throws {
        let lastReport = "yesterday's"
        for (reply, expected) in [
            (StubTransport.Reply.fail(HTTPError(.timeout)), "yesterday's"),
            (.respond(.ok, body: "today's"), "today's"), (.respond(409, body: .json(text: #"{"detail": "busy"}"#)), "busy"),
        ] {
            let configuration = HTTPClient.Configuration(
                maxRetries: 1, validators: [DefaultValidator(retriableErrors: [.timeout: .immediate])])
            let client = HTTPClient(
                baseURL: "https://api.example.com", configuration: configuration,
                transport: StubTransport(sequence: [reply, reply]))
            var report = ""
            do {
                report = try await client.get("report").string()
            } catch let error as HTTPError where error.cause == .timeout {
                report = lastReport
            } catch let error as HTTPError where error.response?.status == .conflict {
                report = try error.decode(Problem.self).detail  // what the server says about it
            }
            #expect(report == expected)
        }
    }

    @Test("E3 Exhaustion carries the last reason")
    func exhaustion() async throws {
        let transport = StubTransport(status: .serviceUnavailable)
        var configuration = HTTPClient.Configuration()
        configuration.maxRetries = 2
        configuration.validators = [DefaultValidator(retriableStatus: [.serviceUnavailable: .immediate])]
        let client = HTTPClient(
            baseURL: "https://api.example.com", configuration: configuration, transport: transport)
        var printed: [String] = []
        func print(_ value: Any) { printed.append("\(value)") }
        do {
            _ = try await client.send(HTTPRequest("report"))
        } catch let error as HTTPError where error.code == .retriesExhausted {
            print(error)
            print(error.response?.status ?? "no response")
        }
        try page.expectBlock(printing: printed.joined(separator: "\n"))
    }

    @Test("A budget for the whole client")
    func budget() async throws {
        let transport = StubTransport(status: .serviceUnavailable)
        var configuration = HTTPClient.Configuration()
        configuration.maxRetries = 3
        configuration.retryBudget = RetryBudget(share: 0.1, reserve: 5, window: .seconds(10))
        configuration.validators = [DefaultValidator(retriableStatus: [.serviceUnavailable: .immediate])]
        // Its window is never over, however slow the machine.
        configuration.clock = TestClock()
        configuration.timeout = nil
        let client = HTTPClient(configuration: configuration, transport: transport)
        for _ in 1...3 { _ = try? await client.send(HTTPRequest("https://api.example.com/")) }
        #expect(transport.requests.count == 3 + 5)
        if let state = client.retryBudget {
            print("\(state.retries) retries of \(state.calls) calls, \(state.available) left")
        }
    }

    @Test("The deadline ends a call that would have to wait past it")
    func deadline() async throws {
        let clock = TestClock()
        let transport = StubTransport(status: .serviceUnavailable, headers: [.retryAfter: "20"])
        var configuration = HTTPClient.Configuration()
        configuration.maxRetries = 3
        configuration.clock = clock
        let client = HTTPClient(
            baseURL: "https://api.example.com", configuration: configuration, transport: transport)
        var request = HTTPRequest("report")
        request.deadline = .seconds(5)
        await #expect {
            try await client.send(request)
        } throws: {
            ($0 as? HTTPError)?.code == .unacceptableStatus
        }
        #expect(transport.requests.count == 1)
    }

    /// Knows the token of the moment.
    actor TokenStore {
        private(set) var token = "token-of-yesterday"
        func keep(_ token: String) { self.token = token }
    }

    @Test("E5 E9 Another request first")
    func alternate() async throws {
        let transport = StubTransport { request in
            if request.method == .post { return HTTPResponse(status: .ok, body: .text("token-of-today"), request: request) }
            let isFresh = request.headers[.authorization] == "Bearer token-of-today"
            return HTTPResponse(status: isFresh ? .ok : .unauthorized, request: request)
        }
        let tokens = TokenStore()
        let silentLogin = AlternateRequestValidator(statuses: [.unauthorized]) { failed, response in
            HTTPRequest(.post, "login", body: .form([("user", "ann")]))
        } then: { original, response in
            await tokens.keep(String(decoding: response.data, as: UTF8.self))
        }

        var configuration = HTTPClient.Configuration()
        configuration.validators = [silentLogin, DefaultValidator()]
        let client = HTTPClient(
            baseURL: "https://api.example.com", configuration: configuration, transport: transport
        ) {
            // Once per attempt, so that the second one carries the new token. No other server gets it.
            ClosureRequestInterceptor("Token") { request in
                guard HTTPOrigin(request.urlText) == HTTPOrigin("https://api.example.com") else { return }
                request.headers[.authorization] = "Bearer \(await tokens.token)"
            }
        }
        #expect(try await client.send(HTTPRequest("me")).status == .ok)
        #expect(await tokens.token == "token-of-today")
        #expect(try await client.send(HTTPRequest("me")).status == .ok)
        #expect(transport.requests.map(\.method) == [.get, .post, .get, .get])
        _ = try? await client.send(HTTPRequest("https://other.example.com/"))
        #expect(transport.requests.last?.headers.contains(.authorization) == false)
    }

    /// Waits where no server was reached, and leaves everything else to the next validator.
    struct WaitsForNetwork: HTTPValidator {
        func validate(_ response: HTTPResponse, for request: HTTPRequest) async throws -> HTTPVerdict { .next }

        func validate(_ error: any Error, for request: HTTPRequest) async throws -> HTTPVerdict {
            switch (error as? HTTPError)?.code {
            case .connection, .nameResolution: .retry(.whenOnline())
            default: .next
            }
        }
    }

    /// Is up.
    private struct Tunnel: NetworkStatus {
        var isOnline: Bool { true }
        func waitUntilOnline() async throws {}
    }

    @Test("When there is a network again")
    func whenOnline() async throws {
        var configuration = HTTPClient.Configuration()
        var errors = DefaultValidator.usualErrors
        errors[.connection] = .whenOnline()  // within 60 s
        errors[.nameResolution] = .whenOnline(within: .seconds(20))
        configuration.validators = [DefaultValidator(retriableErrors: errors)]
        #expect(Set(errors.keys) == Set(DefaultValidator.usualErrors.keys))

        for (error, isRetried) in [(HTTPError(.connection, phase: .notSent), true), (HTTPError(.timeout), false)] {
            let verdict = try await WaitsForNetwork().validate(error, for: HTTPRequest("https://api.example.com/"))
            if case .retry = verdict { #expect(isRetried) } else { #expect(!isRetried) }
        }

        let (clock, tunnel) = (TestClock(), Tunnel())
        errors[.connection] = .whenOnline(status: tunnel, clock: clock)
        configuration.validators = [DefaultValidator(retriableErrors: errors)]
        configuration.clock = clock
        configuration.timeout = nil
        let transport = StubTransport(sequence: [.fail(HTTPError(.connection, phase: .notSent)), .respond(.ok)])
        let client = HTTPClient(configuration: configuration, transport: transport)
        let answer = Task { try await client.send(HTTPRequest("https://api.example.com/report")) }
        await clock.waitForSleepers()
        let pause = try #require(clock.nextDeadline).offset
        #expect(pause >= .milliseconds(500) && pause <= .seconds(1))
        clock.advanceToLastDeadline()
        #expect(try await answer.value.request.attempt == 2)
    }

    @Test("A response interceptor changes responses before they are judged")
    func responseInterceptor() async throws {
        let transport = StubTransport(status: .ok, body: .text(#")]}',{"state": "ready"}"#))
        var configuration = HTTPClient.Configuration()
        configuration.validators = [DefaultValidator(), ReportIsReady()]
        let client = HTTPClient(configuration: configuration, transport: transport) {
            ClosureResponseInterceptor("StripPrefix") { response in
                let prefix = Array(")]}',".utf8)
                if let bytes = response.body.bytes, bytes.starts(with: prefix) {
                    response.body = .bytes(Array(bytes.dropFirst(prefix.count)))
                }
            }
        }
        let response = try await client.send(HTTPRequest("https://api.example.com/report"))
        #expect(response.data == Data(#"{"state": "ready"}"#.utf8))
    }

    @Test("The defaults are those of the table")
    func defaults() throws {
        let configuration = HTTPClient.Configuration()
        let validator = DefaultValidator()
        let budget = try #require(configuration.retryBudget)
        #expect(budget == RetryBudget(share: 0.2, reserve: 10, window: .seconds(10)))
        #expect(configuration.deadline == nil)
        #expect(!configuration.sharesRetryAfter)
        #expect(Set(validator.retriableStatus.keys) == [429, 503, 502, 504, 408])
        #expect(Set(validator.retriableErrors.keys) == [.timeout, .connection, .connectionLost, .nameResolution])
        let lines = try page.lines()
        for row in [
            "| `configuration.maxRetries` | \(configuration.maxRetries) |",
            "| `configuration.timeout`, for an attempt | \(try #require(configuration.timeout).components.seconds) s |",
            "| `configuration.maximumRetryAfter` | \(configuration.maximumRetryAfter.components.seconds) s |",
            "| `DefaultValidator.allowsEmptyResponses` | \(validator.allowsEmptyResponses) |",
        ] {
            #expect(lines.contains(row), "\(row)")
        }
        #expect(validator.acceptableStatus == HTTPStatusSet(200..<400))
    }
}
