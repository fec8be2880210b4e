import Foundation
import Interception
import Midstream
import MidstreamTesting
import TestSupport
import Testing

/// The samples of the older client's documentation, as they are written here.
@Suite("E. The samples of an advanced client", .leavesNothing)
struct AdvancedClientExamples {
    private let server: MockServer
    private let bench: ArbiterBench

    init() throws {
        server = try MockServer()
        bench = ArbiterBench(on: server)
    }

    @Test("E13 a client of one's own: base URL and headers for all requests")
    func ownClient() async throws {
        server.respond { _ in .init(body: "fine") }
        var configuration = HTTPClient.Configuration()
        configuration.headers = ["User-Agent": "MyApp", "X-API-Experimental": "true"]
        let b2cClient = testClient(baseURL: server.url("/api/v2/"), configuration: configuration)

        _ = try await b2cClient.send(HTTPRequest("users"))
        let request = try await server.takeRequest()
        #expect(request.path == "/api/v2/users" && request.headers["User-Agent"] == "MyApp")
        #expect(request.headers["X-API-Experimental"] == "true")
    }

    /// What all requests of a client carry once it is known.
    private final class Session: RequestInterceptor {
        private let token = Locked<String?>(nil)
        func set(_ value: String) { token.withLock { $0 = value } }
        func intercept(request: inout HTTPRequest) async throws {
            if let token = token.withLock({ $0 }) { request.headers[.authorization] = token }
        }
    }

    @Test("E13 the alternate request validator refreshes a token for all requests of the client")
    func tokenRefresh() async throws {
        server.respond { request in
            if request.path == "/api/refreshToken" { return .init(body: "Bearer new") }
            return .init(status: request.headers[.authorization] == "Bearer new" ? 200 : 401)
        }
        let session = Session()
        let authValidator = AlternateRequestValidator(statuses: [.unauthorized]) { request, response in
            HTTPRequest("refreshToken")
        } then: { request, response in
            session.set(String(decoding: response.data, as: UTF8.self))
        }
        let client = bench.client(validators: [authValidator, DefaultValidator()], interceptors: { session })

        #expect(try await client.send(HTTPRequest("data")).status == .ok)
        #expect(try await client.send(HTTPRequest("data")).status == .ok)
        #expect(server.requests.map(\.path) == ["/api/data", "/api/refreshToken", "/api/data", "/api/data"])
    }

    /// For a webservice that always answers 200 with `code`, `errorMsg`, `retriable` and `data`.
    private struct MyBadWSValidator: HTTPValidator {
        func validate(_ response: HTTPResponse, for request: HTTPRequest) async throws -> HTTPVerdict {
            guard let json = try? JSONSerialization.jsonObject(with: response.data) as? [String: Any] else {
                return .fail(HTTPError(.decoding, "The response isn't JSON.", response: response))
            }
            guard json["code"] as? Int == 0 else {
                let message = json["errorMsg"] as? String ?? "Unknown error"
                return .fail(HTTPError(.validation, message, response: response))
            }
            guard json["data"] is [String: Any] else {
                if json["retriable"] as? Bool == true { return .retry(.fibonacci()) }
                return .fail(HTTPError(.decoding, "There is no data.", response: response))
            }
            return .next
        }
    }

    @Test("E13 a validator for a bad webservice")
    func badWebservice() async throws {
        let retriable = MockServer.Response(body: .json(text: #"{"code": 0, "retriable": true}"#))
        server.enqueue(
            .init(body: "no JSON"), .init(body: .json(text: #"{"code": 1, "errorMsg": "Wrong day"}"#)),
            .init(body: .json(text: #"{"code": 0, "data": [1]}"#)),
            retriable, retriable, retriable, .init(body: .json(text: #"{"code": 0, "data": {"id": 7}}"#)))
        let client = bench.client(validators: [DefaultValidator(), MyBadWSValidator()])
        var request = HTTPRequest("x")
        request.maxRetries = 3

        var messages: [String?] = []
        for _ in 1...3 {
            let result = await bench.waits(0, of: client, request).result
            messages.append(result.httpError?.message)
        }
        #expect(messages == ["The response isn't JSON.", "Wrong day", "There is no data."])
        let (delays, result) = await bench.waits(3, of: client, request)
        #expect(delays == [1, 1, 2].map { .seconds($0) })
        #expect(String(decoding: try result.get().data, as: UTF8.self).contains("7"))
    }

    /// Logs in when a request is refused, and has it sent again with the new token.
    private struct SilentLoginValidator: HTTPValidator {
        let tokenRefreshRequest: HTTPRequest

        func validate(_ response: HTTPResponse, for request: HTTPRequest) async throws -> HTTPVerdict {
            guard response.status == .unauthorized else { return .next }
            return .retry(
                .after(tokenRefreshRequest, delay: .milliseconds(300)) { request, response in
                    request.headers["X-Token"] = try response.decode([String: String].self)["token"]
                })
        }
    }

    @Test("E13 a silent login")
    func silentLogin() async throws {
        server.respond { request in
            if request.path == "/api/login" { return .init(body: .json(text: #"{"token": "fresh"}"#)) }
            return .init(status: request.headers["X-Token"] == "fresh" ? 200 : 401, body: "books")
        }
        let validator = SilentLoginValidator(tokenRefreshRequest: HTTPRequest(.post, "login"))
        let client = bench.client(validators: [validator, DefaultValidator()])
        let usersBooks = HTTPRequest("user/books/scifi", headers: ["X-Token": "stale"])

        let (delays, result) = await bench.waits(1, of: client, usersBooks)
        #expect(String(decoding: try result.get().data, as: UTF8.self) == "books" && delays == [.milliseconds(300)])
        #expect(server.requests.map(\.path) == ["/api/user/books/scifi", "/api/login", "/api/user/books/scifi"])
    }

    @Test("E13 a task before the retry, and an error after one", arguments: [true, false])
    func afterTask(helps: Bool) async throws {
        server.respond { .init(status: helps && $0.headers[.authorization] == "Bearer abcdefg" ? 200 : 401) }
        let patchRequest: @Sendable (inout HTTPRequest) async throws -> Void = { originalRequest in
            originalRequest.headers[.authorization] = "Bearer abcdefg"
            if !helps { throw Failure("task") }
        }
        let steps = Steps()
        let newClient = bench.client(validators: [
            CallbackValidator { response, request in
                if response.status == .ok { return .next }
                if request.attempt < 2 {
                    return .retry(
                        .afterTask(delay: .seconds(4)) { originalRequest in
                            try await patchRequest(&originalRequest)
                        } onError: { error in
                            steps.note("\(error)")
                        })
                }
                return .fail(HTTPError(.retriesExhausted, "One retry is enough."))
            }
        ])

        let (delays, result) = await bench.waits(1, of: newClient)
        #expect(delays == [.seconds(4)] && server.requestCount == 2)
        #expect(helps ? try result.get().status == .ok : result.httpError?.message == "One retry is enough.")
        #expect(steps.all.count == (helps ? 0 : 1))
    }
}
