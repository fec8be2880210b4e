#if os(Linux)
    import Interception
    import Midstream
    import MidstreamCore
    import MidstreamTesting
    import MidstreamWebSocket
    import TestSupport
    import Testing

    /// An agreement that somebody on its way doesn't want.
    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct GivenUpUpgradeTests {
        private struct Unwanted: Error {}

        /// Finds something wrong with a 101, by an error that has it or by one that hasn't.
        private struct Refusal: HTTPValidator {
            let showsResponse: Bool

            func validate(_ response: HTTPResponse, for request: HTTPRequest) async throws -> HTTPVerdict {
                showsResponse ? .fail(HTTPError(.validation, request: request, response: response)) : .fail(Unwanted())
            }
        }

        private let server: MockServer

        init() throws { server = try MockServer() }

        private func client(
            _ validators: [any HTTPValidator] = [DefaultValidator()],
            @PipelineBuilder interceptors: () -> [any HTTPInterceptor] = { [] }
        ) -> HTTPClient {
            let configuration = HTTPClient.Configuration(validators: validators)
            return testClient(
                baseURL: server.url(), configuration: configuration, transport: wireTransport(), interceptors: interceptors)
        }

        /// Answers with a socket, and opens the gate once the client has left it.
        private func enqueueSocket() -> Gate {
            let left = Gate()
            server.enqueue(
                .webSocket { socket in
                    while let event = try? await socket.next() { if case .close = event { break } }
                    left.open()
                })
            return left
        }

        @Test func `One that a validator refuses is closed, and isn't read as an answer`() async throws {
            let left = enqueueSocket()
            let error = await #expect(throws: HTTPError.self) {
                try await client([Refusal(showsResponse: true)]).webSocket("feed").connect()
            }
            #expect(error?.code == .validation && error?.response?.status == 101)
            #expect(error?.response?.body.bytes == [])
            await left.wait()

            let other = enqueueSocket()
            await #expect(throws: Unwanted.self) {
                try await client([Refusal(showsResponse: false)]).webSocket("feed").connect()
            }
            await other.wait()
        }

        @Test func `One in whose place a validator puts an answer is closed, and is no socket`() async throws {
            let left = enqueueSocket()
            let other = CallbackValidator { response, _ in
                .nextWith(HTTPResponse(status: .forbidden, body: .text("not you"), request: response.request))
            }
            let error = await #expect(throws: HTTPError.self) { try await client([other]).webSocket("feed").connect() }
            #expect(error?.code == .unacceptableStatus && error?.response?.body.text == "not you")
            await left.wait()
        }

        @Test func `One after which a validator wants another attempt gives way to that`() async throws {
            let left = enqueueSocket()
            server.enqueue(.webSocket { try await $0.echo() })
            // The last one is the first.
            let verdicts = Locked<[HTTPVerdict]>([.next, .retry(.immediate)])
            let again = CallbackValidator { _, _ in verdicts.withLock { $0.removeLast() } }
            var request = HTTPRequest("feed")
            request.maxRetries = 1
            let socket = try await client([again]).webSocket(request).connect()
            await left.wait()
            try await socket.send("second")
            var messages = socket.makeAsyncIterator()
            #expect(try await messages.next() == .text("second"))
            #expect(Set(server.requests.map { $0.headers["Sec-WebSocket-Key"] }).count == 2)
        }

        @Test func `One that an interceptor closes leaves its connection`() async throws {
            let left = enqueueSocket()
            let client = client {
                ClosureHTTPInterceptor { request, next in
                    let response = try await next(request)
                    response.body.close()
                    throw Unwanted()
                }
            }
            await #expect(throws: Unwanted.self) { try await client.webSocket("feed").connect() }
            await left.wait()
        }

        @Test func `One after which an interceptor asks again gives way to the next`() async throws {
            let left = enqueueSocket()
            server.enqueue(.webSocket { try await $0.echo() })
            let client = client {
                ClosureHTTPInterceptor { request, next in
                    let first = try await next(request)
                    first.body.close()
                    return try await next(request)
                }
            }
            let socket = try await client.webSocket("feed").connect()
            await left.wait()
            try await socket.send("second")
            var messages = socket.makeAsyncIterator()
            #expect(try await messages.next() == .text("second"))
            #expect(Set(server.requests.map { $0.headers["Sec-WebSocket-Key"] }).count == 2)
        }

        @Test func `One in whose place an interceptor answers is no socket`() async throws {
            let left = enqueueSocket()
            let client = client {
                ClosureHTTPInterceptor { request, next in
                    let response = try await next(request)
                    response.body.close()
                    return HTTPResponse(status: .forbidden, body: .text("not you"), request: response.request)
                }
            }
            let error = await #expect(throws: HTTPError.self) { try await client.webSocket("feed").connect() }
            #expect(error?.response?.status == .forbidden && error?.response?.body.text == "not you")
            await left.wait()
        }
    }
#endif
