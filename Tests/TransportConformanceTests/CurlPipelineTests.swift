#if os(Linux)
    import Interception
    import MidstreamCore
    import MidstreamCurl
    import TestSupport
    import Testing

    /// The whole way: a page of nginx over HTTP/2 and TLS, through five interceptors, with its trace.
    @Suite(.leavesNothing, .enabled(if: Nginx.isRunning), .timeLimit(.minutes(10))) struct CurlPipelineTests {
        @Test func aPageComesThroughFiveInterceptors() async throws {
            var configuration = CurlTransport.Configuration()
            configuration.tls.authorities = Nginx.authority.map { .file($0) }
            let transport = curlTransport(configuration: configuration)
            let client = testClient(baseURL: Nginx.https, transport: transport) {
                ClosureRequestInterceptor { $0.headers["X-Test"] = "first" }.at(.call)
                ClosureResponseInterceptor { $0.headers["X-Seen"] = "yes" }.at(.call)
                ClosureRequestInterceptor { $0.headers["X-Test"] = ($0.headers["X-Test"] ?? "") + " second" }
                ClosureHTTPInterceptor { request, next in try await next(request) }
                ClosureRequestInterceptor { $0.headers["X-Test"] = ($0.headers["X-Test"] ?? "") + " third" }.at(.exchange)
            }
            let page = try await client.send(HTTPRequest("page"))
            #expect(page.version == .http2)
            #expect(page.body.bytes == (try Nginx.file("/page")))
            #expect(page.headers["X-Seen"] == "yes")
            #expect(page.trace.allSpans.count >= 5)
            let echo = try await client.send(HTTPRequest("echo-headers"))
            #expect(echo.body.bytes.map { String(decoding: $0, as: UTF8.self) }?.hasPrefix("first second third|") == true)
        }
    }
#endif
