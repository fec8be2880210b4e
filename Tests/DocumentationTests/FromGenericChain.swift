import Foundation
import Midstream
import MidstreamTesting
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("Coming from a generic interceptor chain")
struct FromGenericChain {
    enum InputOnly {
        struct MyInterceptor: Interceptor {
            func intercept(_ input: URLRequest, next: Next<URLRequest, Data?>) async throws -> Data? {
                var request = input
                request.setValue("en", forHTTPHeaderField: "Accept-Language")
                return try await next(request)
            }
        }
    }

    enum Both {
        struct MyInterceptor: Interceptor {
            func intercept(_ input: URLRequest, next: Next<URLRequest, Data?>) async throws -> Data? {
                var request = input
                request.setValue("en", forHTTPHeaderField: "Accept-Language")
                let data = try await next(request)
                return data.map { $0 + Data("!".utf8) }
            }
        }
    }

    enum Callbacks {
        struct MyInterceptor: CompletionInterceptor {
            func intercept(
                _ input: URLRequest, next: CompletionNext<URLRequest, Data?>,
                completion: @escaping @Sendable (Result<Data?, any Error>) -> Void
            ) {
                var request = input
                request.setValue("en", forHTTPHeaderField: "Accept-Language")
                next(request) { result in
                    completion(result.map { $0.map { $0 + Data("!".utf8) } })
                }
            }
        }
    }

    /// Answers in which language it was asked.
    private func server() throws -> MockServer {
        let server = try MockServer()
        server.respond { .init(body: .text($0.headers[.acceptLanguage] ?? "none")) }
        return server
    }

    @Test("C2 The input alone")
    func input() async throws {
        typealias MyInterceptor = InputOnly.MyInterceptor
        let server = try server()
        defer { server.shutdown() }
        let request = URLRequest(url: try #require(URL(string: server.url())))
        let chain = InterceptorChain<URLRequest, Data?> { request in
            try await URLSession.shared.data(for: request).0
        }
        .adding(MyInterceptor())

        let data = try await chain.proceed(request)
        #expect(data == Data("en".utf8))
    }

    @Test("C2 Input and output")
    func inputAndOutput() async throws {
        let chain = InterceptorChain<URLRequest, Data?>([Both.MyInterceptor()]) { request in
            Data((request.value(forHTTPHeaderField: "Accept-Language") ?? "").utf8)
        }
        let request = URLRequest(url: try #require(URL(string: "https://example.com/")))
        #expect(try await chain.proceed(request) == Data("en!".utf8))
    }

    @Test("C5 Completion handlers at both ends")
    func callbackStyle() async throws {
        typealias MyInterceptor = Callbacks.MyInterceptor
        let server = try server()
        defer { server.shutdown() }
        let request = URLRequest(url: try #require(URL(string: server.url())))
        let chain = InterceptorChain<URLRequest, Data?>(
            [MyInterceptor()],
            completionTerminal: { request, completion in
                URLSession.shared.dataTask(with: request) { data, _, error in
                    completion(error.map { .failure($0) } ?? .success(data))
                }
                .resume()
            })

        chain.proceed(request) { result in
            print(result)
        }
        #expect(try await chain.proceed(request) == Data("en!".utf8))
    }
}
