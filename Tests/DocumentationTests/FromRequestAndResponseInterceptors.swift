import Foundation
import Midstream
import MidstreamTesting
import Testing

@Suite("Coming from request and response interceptors")
struct FromRequestAndResponseInterceptors {
    final class RequestIDInterceptor: RequestInterceptor {
        static let `default` = RequestIDInterceptor()

        func intercept(request: inout HTTPRequest) async throws {
            request.headers["X-REQUEST-ID"] = request.id.uuidString
        }
    }

    final class BackendBusinessErrorInterceptor: ResponseInterceptor {
        static let `default` = BackendBusinessErrorInterceptor()

        enum Failure: Error {
            case backendBusinessError
        }

        func intercept(response: inout HTTPResponse) async throws {
            if response.headers["X-BUSINESS-ERROR"] == "true" {
                throw Failure.backendBusinessError
            }
        }
    }

    @Test("A1 A request interceptor on the client sees every request")
    func requestInterceptor() async throws {
        let transport = StubTransport(status: .ok)
        let client = HTTPClient(baseURL: "https://api.example.com", transport: transport) {
            RequestIDInterceptor.default
        }
        let request = HTTPRequest("users")
        _ = try await client.send(request)
        #expect(transport.requests.first?.headers["X-REQUEST-ID"] == request.id.uuidString)
    }

    @Test("A3 The same as a closure")
    func requestClosure() async throws {
        let transport = StubTransport(status: .ok)
        let interceptor = ClosureRequestInterceptor { request in
            request.headers["X-REQUEST-ID"] = request.id.uuidString
        }
        let client = HTTPClient(transport: transport) { interceptor }
        let request = HTTPRequest("https://api.example.com/users")
        _ = try await client.send(request)
        #expect(transport.requests.first?.headers["X-REQUEST-ID"] == request.id.uuidString)
    }

    @Test("A2 A response interceptor may throw, and the error arrives as it is")
    func responseInterceptor() async throws {
        let transport = StubTransport(status: .ok, headers: ["X-BUSINESS-ERROR": "true"])
        let client = HTTPClient(baseURL: "https://api.example.com", transport: transport) {
            BackendBusinessErrorInterceptor.default
        }
        await #expect(throws: BackendBusinessErrorInterceptor.Failure.backendBusinessError) {
            try await client.send(HTTPRequest("users"))
        }
    }

    @Test("A3 The response interceptor as a closure")
    func responseClosure() async throws {
        let transport = StubTransport(status: .ok, headers: ["X-BUSINESS-ERROR": "true"])
        enum Failure: Error {
            case backendBusinessError
        }

        let interceptor = ClosureResponseInterceptor { response in
            if response.headers["X-BUSINESS-ERROR"] == "true" {
                throw Failure.backendBusinessError
            }
        }
        let client = HTTPClient(transport: transport) { interceptor }
        await #expect(throws: Failure.backendBusinessError) {
            try await client.send(HTTPRequest("https://api.example.com/users"))
        }
    }

    /// Knows the token of the moment and can get a new one.
    actor Session {
        private(set) var token = "expired"
        private(set) var renewals = 0
        func renew() {
            renewals += 1
            token = "fresh"
        }
    }

    /// Gets a new session when the server refuses the old one, and sends the request again.
    struct SessionRenewal: HTTPInterceptor {
        let session: Session

        func intercept(
            _ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>
        ) async throws -> HTTPResponse {
            // The session is this server's, whatever URL a request has.
            guard HTTPOrigin(request.urlText) == HTTPOrigin("https://api.example.com") else { return try await next(request) }
            var request = request
            request.headers[.authorization] = "Bearer \(await session.token)"
            let response = try await next(request)
            guard response.status == .unauthorized else { return response }

            response.body.close()  // nobody will read it
            await session.renew()
            request.headers[.authorization] = "Bearer \(await session.token)"
            return try await next(request)
        }
    }

    @Test("A2 A 401 renews the session, and the same request goes out again")
    func renewal() async throws {
        let session = Session()
        let transport = StubTransport { request in
            let isFresh = request.headers[.authorization] == "Bearer fresh"
            return HTTPResponse(status: isFresh ? .ok : .unauthorized, request: request)
        }
        let client = HTTPClient(transport: transport) { SessionRenewal(session: session) }
        let request = HTTPRequest("https://api.example.com/me")
        #expect(try await client.send(request).status == .ok)
        #expect(await session.renewals == 1)
        #expect(transport.requests.map(\.id) == [request.id, request.id])
        _ = try? await client.send(HTTPRequest("https://other.example.com/"))
        #expect(transport.requests.last?.headers.contains(.authorization) == false)
        try await assertInterceptorLaws(request: request) { SessionRenewal(session: Session()) }
    }

    @Test("A4 Requests go through the request's interceptors first, responses through the client's")
    func scopes() async throws {
        let transport = StubTransport(status: .ok)
        let order = Recorder()
        let client = HTTPClient(baseURL: "https://api.example.com", transport: transport) {
            order.interceptor("client")
        }
        let fooInterceptor = order.interceptor("request")
        var request = HTTPRequest("users")
        request.interceptors = [fooInterceptor]

        let response = try await client.send(request)
        #expect(response.status == .ok)
        #expect(order.events == ["request ↓", "client ↓", "client ↑", "request ↑"])
    }

    @Test("A4 A logger at the exchange sees what goes on the wire, and what came back")
    func wireLog() async throws {
        let transport = StubTransport(status: .ok)
        let log = Recorder()
        let wireLog = ClosureHTTPInterceptor("WireLog", stage: .exchange) { request, next in
            log.write("> \(request)")
            let response = try await next(request)
            log.write("< \(response.status)")
            return response
        }

        let client = HTTPClient(baseURL: "https://api.example.com", transport: transport) {
            wireLog
            RequestIDInterceptor.default  // stands further out, though it is listed last
        }
        var request = HTTPRequest("users")
        request.interceptors = [
            ClosureRequestInterceptor { $0.addQuery("page", "2") },
            ClosureResponseInterceptor { response in response.status = .accepted },
        ]
        _ = try await client.send(request)
        #expect(log.events == ["> GET https://api.example.com/users?page=2", "< 200 OK"])
    }

    @Test("A5 Interceptors join to interceptors of the same kind")
    func chains() async throws {
        let order = Recorder()
        let requestIDInterceptor = order.request("id")
        let logRequestInterceptor = order.request("log")
        let fooRequestInterceptor = order.request("foo")
        let barRequestInterceptor = order.request("bar")
        let backendErrorResponseInterceptor = order.response("backend error")
        let logResponseInterceptor = order.response("log response")
        let firstRequestIDThenLog = requestIDInterceptor.chain(before: logRequestInterceptor)
        let firstLogThenBackendError = backendErrorResponseInterceptor.chain(after: logResponseInterceptor)

        let requestInterceptors: [any RequestInterceptor] = [
            fooRequestInterceptor,
            barRequestInterceptor,
            logRequestInterceptor,
        ]

        let combined = ChainedRequestInterceptor.chain(inOrder: requestInterceptors)
        for (interceptor, expected) in [
            (firstRequestIDThenLog as any HTTPInterceptor, ["id", "log"]),
            (firstLogThenBackendError, ["log response", "backend error"]),
            (combined, ["foo", "bar", "log"]),
            (ChainedRequestInterceptor.chain(inOrder: []), []),
        ] {
            order.clear()
            let client = HTTPClient(transport: StubTransport(status: .ok)) { interceptor }
            _ = try await client.send(HTTPRequest("https://api.example.com/"))
            #expect(order.events == expected)
        }
    }

    @Test("A6 The check of the status stays on whatever interceptors there are")
    func statusCheckStays() async throws {
        let client = HTTPClient(transport: StubTransport(status: .notFound)) { BackendBusinessErrorInterceptor.default }
        await #expect {
            try await client.send(HTTPRequest("https://api.example.com/"))
        } throws: {
            ($0 as? HTTPError)?.code == .unacceptableStatus
        }
    }
}
