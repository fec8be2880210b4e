import Midstream
import MidstreamTesting
import Testing

@Suite("Coming from lifecycle hooks")
struct FromLifecycleHooks {
    enum Empty {
        struct HeaderInterceptor: LifecycleInterceptor {}
    }

    struct HeaderInterceptor: LifecycleInterceptor {
        func modifyRequest(_ request: HTTPRequest) async throws -> HTTPRequest {
            var request = request
            request.headers[.acceptLanguage] = "en"
            return request
        }
    }

    enum NetworkingError: Error {
        case invalidResponse(HTTPResponse)
    }

    struct ResponseValidator: LifecycleInterceptor {
        func didReceiveSuccess(_ response: HTTPResponse) async throws {
            guard response.status.isSuccess else {
                throw NetworkingError.invalidResponse(response)
            }
        }
    }

    @Test("B1 An interceptor that implements nothing does nothing")
    func nothing() async throws {
        let transport = StubTransport(status: .ok)
        let client = HTTPClient(transport: transport) { Empty.HeaderInterceptor() }
        #expect(try await client.send(HTTPRequest("https://www.example.com/")).status == .ok)
        #expect(transport.requests.first?.headers == ["User-Agent": "Midstream"])
    }

    @Test("B2 A header on every request")
    func header() async throws {
        let transport = StubTransport(status: .ok)
        let headerInterceptor = HeaderInterceptor()

        let client = HTTPClient(baseURL: "https://www.example.com", transport: transport) {
            headerInterceptor
        }
        _ = try await client.send(HTTPRequest("news"))
        #expect(transport.requests.first?.headers[.acceptLanguage] == "en")
    }

    @Test("B4 A hook that throws is a validator")
    func validator() async throws {
        let transport = StubTransport(sequence: [.respond(.ok), .respond(.notFound)])
        let headerInterceptor = HeaderInterceptor()
        let validator = ResponseValidator()

        let client = HTTPClient(baseURL: "https://www.example.com", transport: transport) {
            headerInterceptor
            validator
        }
        #expect(try await client.send(HTTPRequest("news")).status == .ok)
        await #expect {
            try await client.send(HTTPRequest("news"))
        } throws: {
            guard case NetworkingError.invalidResponse(let response) = $0 else { return false }
            return response.status == .notFound
        }
    }

    struct Watch: LifecycleInterceptor {
        let write: @Sendable (String) -> Void

        func modifyRequest(_ request: HTTPRequest) async throws -> HTTPRequest {
            write("modifyRequest")
            return request
        }

        func willSend(_ request: HTTPRequest) async {
            write("willSend")
        }

        func didReceiveSuccess(_ response: HTTPResponse) async throws {
            write("didReceiveSuccess \(response.status.code)")
        }

        func modifyResponse(_ response: HTTPResponse) async throws -> HTTPResponse {
            write("modifyResponse")
            return response
        }

        func didReceiveFailure(_ error: any Error, for request: HTTPRequest) async {
            write("didReceiveFailure")
        }
    }

    @Test("B3 B5 What an interceptor hears of a success and of a failure")
    func order() async throws {
        let log = Recorder()
        let watch = Watch { log.write($0) }
        var client = HTTPClient(transport: StubTransport(status: .notFound)) { watch }
        _ = try? await client.send(HTTPRequest("https://www.example.com/"))
        #expect(log.events == ["modifyRequest", "willSend", "didReceiveSuccess 404", "modifyResponse"])

        log.clear()
        client = HTTPClient(transport: StubTransport(sequence: [.fail(HTTPError(.connection))])) { watch }
        _ = try? await client.send(HTTPRequest("https://www.example.com/"))
        #expect(log.events == ["modifyRequest", "willSend", "didReceiveFailure"])

        log.clear()
        client = HTTPClient(transport: StubTransport(status: .notFound)) {
            ChainedHTTPInterceptor.chain(inOrder: [watch, ResponseValidator()])
        }
        _ = try? await client.send(HTTPRequest("https://www.example.com/"))
        #expect(log.events == ["modifyRequest", "willSend", "didReceiveFailure"])
    }
}
