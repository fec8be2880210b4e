import Foundation
import Midstream
import MidstreamTesting
import MidstreamURLSession
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("Coming from validators and retry strategies", .timeLimit(.minutes(10)))
struct FromValidatorsAndRetries {
    @Test("E1 A client of its own for a service")
    func customClient() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init(headers: ["Set-Cookie": "sid=1"]), .init())
        let baseURL = server.url("/api/v2/")
        let myAgent = "MyApp/1.0"
        let b2cClient: HTTPClient = {
            let session = URLSessionConfiguration.ephemeral
            session.networkServiceType = .background

            // Some common headers for all requests; a request's own win.
            var configuration = HTTPClient.Configuration()
            configuration.headers = [
                .userAgent: myAgent,
                "X-API-Experimental": "true",
            ]

            return HTTPClient(
                baseURL: baseURL, configuration: configuration,
                transport: URLSessionTransport(configuration: session)
            ) {
                CookieInterceptor()
            }
        }()
        _ = try await b2cClient.send(HTTPRequest("users"))
        let sent = try await server.takeRequest()
        #expect(sent.path == "/api/v2/users")
        #expect(sent.headers[.userAgent] == myAgent)
        #expect(sent.headers["X-API-Experimental"] == "true")
        _ = try await b2cClient.send(HTTPRequest("users"))
        #expect(try await server.takeRequest().headers[.cookie] == "sid=1")
    }

    struct EveryVerdict: HTTPValidator {
        func validate(_ response: HTTPResponse, for request: HTTPRequest) async throws -> HTTPVerdict {
            switch response.status {
            case .ok:
                return .next  // no objection
            case .accepted:
                var other = response
                other.headers["X-Checked"] = "yes"
                return .nextWith(other)  // no objection to this one in its place
            case .serviceUnavailable:
                return .retry(.exponential())  // again, if retries are left
            default:
                return .fail(HTTPError(.validation, "Unexpected.", response: response))
            }
        }
    }

    @Test("E2 The four verdicts")
    func verdicts() async throws {
        let transport = StubTransport(sequence: [.respond(.ok), .respond(.accepted), .respond(.created)])
        var configuration = HTTPClient.Configuration()
        configuration.validators = [EveryVerdict()]
        let client = HTTPClient(baseURL: "https://api.example.com", configuration: configuration, transport: transport)
        #expect(try await client.send(HTTPRequest("a")).headers["X-Checked"] == nil)
        #expect(try await client.send(HTTPRequest("a")).headers["X-Checked"] == "yes")
        await #expect {
            try await client.send(HTTPRequest("a"))
        } throws: {
            ($0 as? HTTPError)?.message == "Unexpected."
        }
    }

    /// Knows the token that all requests use.
    actor Session {
        private(set) var token = "old"
        func keep(_ token: String) { self.token = token }
    }

    @Test("E9 A token refresh by an alternate request")
    func tokenRefresh() async throws {
        let transport = StubTransport { request in
            if request.urlText.hasSuffix("/refreshToken") {
                return HTTPResponse(status: .ok, body: .text("new"), request: request)
            }
            let isFresh = request.headers[.authorization] == "Bearer new"
            return HTTPResponse(status: isFresh ? .ok : .unauthorized, request: request)
        }
        let session = Session()
        // Triggered by a 401 alone.
        let authValidator = AlternateRequestValidator(statuses: [.unauthorized]) { request, response in
            // The other request that is to be sent before the first one is sent again.
            HTTPRequest(.post, "https://api.example.com/refreshToken")
        } then: { request, response in
            // Its answer: for this request, and for those to come.
            let token = String(decoding: response.data, as: UTF8.self)
            request.headers[.authorization] = "Bearer \(token)"
            await session.keep(token)
        }

        var configuration = HTTPClient.Configuration()
        configuration.validators.insert(authValidator, at: 0)

        let client = HTTPClient(
            baseURL: "https://api.example.com", configuration: configuration, transport: transport
        ) {
            ClosureRequestInterceptor("Session", stage: .call) { request in
                request.headers[.authorization] = "Bearer \(await session.token)"
            }
        }
        #expect(try await client.send(HTTPRequest("books")).status == .ok)
        #expect(try await client.send(HTTPRequest("books")).status == .ok)
        #expect(transport.requests.map(\.url.lastPathComponent) == ["books", "refreshToken", "books", "books"])
    }

    /// A service that always answers with an object: `code` is 0 if everything is well, `errorMsg` says
    /// what isn't, `retriable` whether another try may help, and `data` is there in any good answer.
    struct MyBadWSValidator: HTTPValidator {
        private struct Envelope: Decodable {
            let code: Int
            let errorMsg: String?
            let retriable: Bool?
            let data: [String: String]?
        }

        func validate(_ response: HTTPResponse, for request: HTTPRequest) async throws -> HTTPVerdict {
            let envelope = try response.decode(Envelope.self)  // what it throws ends the call: no retry

            guard envelope.code == 0 else {
                return .fail(HTTPError(.validation, envelope.errorMsg ?? "Unknown error", response: response))
            }

            guard envelope.data != nil else {
                if envelope.retriable == true { return .retry(.fibonacci()) }
                return .fail(HTTPError(.validation, "There is no data.", response: response))
            }

            return .next  // everything is well
        }
    }

    @Test("E13 A validator for the logic of one service")
    func businessLogic() async throws {
        let clock = TestClock()
        let transport = StubTransport(sequence: [
            .respond(.ok, body: .text(#"{"code": 0, "data": {"a": "b"}}"#)),
            .respond(.ok, body: .text(#"{"code": 0, "retriable": true}"#)),
            .respond(.ok, body: .text(#"{"code": 0, "data": {"a": "b"}}"#)),
            .respond(.ok, body: .text(#"{"code": 1, "errorMsg": "No such book"}"#)),
            .respond(.ok, body: .text("oops")),
        ])
        var configuration = HTTPClient.Configuration()
        configuration.clock = clock
        configuration.timeout = nil
        // The client, with the validator after the default one
        configuration.validators.append(MyBadWSValidator())
        let client = HTTPClient(
            baseURL: "https://api.example.com", configuration: configuration, transport: transport)

        // A request
        var request = HTTPRequest("books")
        request.maxRetries = 3

        let result = try await client.send(request)
        #expect(result.request.attempt == 1)
        let second = Task { [request] in try await client.send(request) }
        await clock.waitForSleepers()
        #expect(clock.nextDeadline?.offset == .seconds(1))
        clock.advanceToLastDeadline()
        #expect(try await second.value.request.attempt == 2)
        await #expect {
            try await client.send(request)
        } throws: {
            ($0 as? HTTPError)?.message == "No such book"
        }
        await #expect {
            try await client.send(request)
        } throws: {
            ($0 as? HTTPError)?.code == .decoding
        }
    }

    struct SilentLoginValidator: HTTPValidator {
        /// What gets a new token.
        let tokenRefreshRequest: HTTPRequest

        func validate(_ response: HTTPResponse, for request: HTTPRequest) async throws -> HTTPVerdict {
            guard response.status == .unauthorized else {
                return .next
            }
            // Log in, put the token into the original request, wait 0.3 seconds, send it again.
            let silentLogin: RetryStrategy = .after(tokenRefreshRequest, delay: .milliseconds(300)) {
                original, login in
                let answer = try login.decode([String: String].self)
                original.headers["X-Token"] = answer["token"]
            }
            return .retry(silentLogin)
        }
    }

    @Test("E5 A silent login, and the original request again")
    func silentLogin() async throws {
        let clock = TestClock()
        let authToken = "expired"
        let transport = StubTransport { request in
            if request.method == .post {
                return HTTPResponse(status: .ok, body: .text(#"{"token": "fresh"}"#), request: request)
            }
            return HTTPResponse(status: request.headers["X-Token"] == "fresh" ? .ok : .unauthorized, request: request)
        }
        var configuration = HTTPClient.Configuration()
        configuration.clock = clock
        configuration.timeout = nil
        let login = HTTPRequest(.post, "https://api.example.com/login")
        configuration.validators.insert(SilentLoginValidator(tokenRefreshRequest: login), at: 0)
        let client = HTTPClient(
            baseURL: "https://api.example.com", configuration: configuration, transport: transport)

        let userBooks = HTTPRequest("user/books/scifi", headers: ["X-Token": authToken])
        async let books = client.send(userBooks)
        await clock.waitForSleepers()
        #expect(clock.nextDeadline?.offset == .milliseconds(300))
        clock.advanceToLastDeadline()
        #expect(try await books.status == .ok)
        #expect(transport.requests.map { $0.headers["X-Token"] } == ["expired", nil, "fresh"])
    }

    @Test("E6 A piece of work on the original request")
    func afterTask() async throws {
        enum TokenError: Error { case none }
        let clock = TestClock()
        let transport = StubTransport(status: .unauthorized)
        let errors = Recorder()
        var configuration = HTTPClient.Configuration()
        configuration.clock = clock
        configuration.timeout = nil
        // What is done to the original request before it is sent again.
        let patchRequest: @Sendable (inout HTTPRequest) async throws -> Void = { request in
            request.headers[.authorization] = "Bearer abcdefg"
        }

        configuration.validators = [
            CallbackValidator { response, request in
                if request.attempt < 2 {
                    // The work changes the request; 4 seconds later it is sent again.
                    return .retry(
                        .afterTask(delay: .seconds(4), patchRequest) { error in
                            errors.write("\(error)")
                        })
                } else {
                    // The second answer decides.
                    return .fail(HTTPError(.retriesExhausted, "Twice is enough.", response: response))
                }
            }
        ]
        let newClient = HTTPClient(configuration: configuration, transport: transport)

        async let response = newClient.send(HTTPRequest("https://api.example.com/me"))
        await clock.waitForSleepers()
        #expect(clock.nextDeadline?.offset == .seconds(4))
        clock.advanceToLastDeadline()
        do {
            _ = try await response
            Issue.record("the second answer was a 401, too")
        } catch let error as HTTPError {
            #expect(error.message == "Twice is enough.")
        }
        #expect(transport.requests.map { $0.headers[.authorization] } == [nil, "Bearer abcdefg"])
        #expect(errors.events.isEmpty)
    }

    @Test("E4 The strategies, by name")
    func strategies() async throws {
        let other = HTTPRequest("https://api.example.com/other")
        let strategies: [RetryStrategy] = [
            .immediate,
            .delayed(.seconds(1)),
            .exponential(),
            .fibonacci(),
            .after(other, delay: .seconds(1)) { original, response in
                original.headers["X-Token"] = response.headers["X-Token"]
            },
            .afterTask(delay: .seconds(1)) { original in
                original.headers["X-Try"] = "2"
            },
            .custom { failed in
                .seconds(failed.attempt)
            },
        ]
        for strategy in strategies {
            let clock = TestClock()
            let transport = StubTransport { HTTPResponse(status: .ok, request: $0) }
            var configuration = HTTPClient.Configuration()
            configuration.clock = clock
            configuration.timeout = nil
            configuration.maxRetries = 1
            configuration.validators = [
                CallbackValidator { _, request in
                    request.attempt == 1 && request.urlText.hasSuffix("/a") ? .retry(strategy) : .next
                }
            ]
            let client = HTTPClient(configuration: configuration, transport: transport)
            let call = Task { try await client.send(HTTPRequest("https://api.example.com/a")) }
            let driver = Task {
                while !Task.isCancelled {
                    await clock.waitForSleepers()
                    clock.advanceToLastDeadline()
                }
            }
            #expect(try await call.value.request.attempt == 2)
            driver.cancel()
        }
    }
}
