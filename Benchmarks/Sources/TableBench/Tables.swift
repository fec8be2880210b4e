import Foundation
import Midstream
import MidstreamDiskCache
import MidstreamSigning
import Synchronization

/// What grows with what servers or callers name, and has a bound.
struct Table: Sendable {
    /// One operation on the key of a number.
    typealias Use = @Sendable (Int) async throws -> Void

    let name: String
    /// How many keys it remembers.
    let room: Int
    /// Makes an empty one.
    let make: @Sendable () async throws -> Use
}

/// Answers at once, so that nothing but the pipeline and the table is measured.
private struct Instant: HTTPTransport {
    let respond: @Sendable (HTTPRequest) -> HTTPResponse

    func send(_ request: HTTPRequest) async throws -> HTTPResponse { respond(request) }
}

enum Tables {
    static var all: [Table] { origins + [partitions, pacing, refusals, realms] + cookies + caches + [fields] }

    private static func client(
        _ interceptors: [any HTTPInterceptor], _ configuration: HTTPClient.Configuration = .init(),
        _ respond: @escaping @Sendable (HTTPRequest) -> HTTPResponse = { HTTPResponse(status: 200, request: $0) }
    ) -> HTTPClient {
        var configuration = configuration
        configuration.validators = []
        configuration.timeout = nil
        configuration.recordsTrace = false
        return HTTPClient(configuration: configuration, transport: Instant(respond: respond)) { interceptors }
    }

    // MARK: Resilience

    /// How many keys a part of resilience remembers.
    private static let keys = 10_000

    private static var origins: [Table] {
        func table(_ name: String, _ make: @escaping @Sendable () -> [any HTTPInterceptor]) -> Table {
            Table(name: name, room: keys) {
                let client = client(make())
                return { number in
                    var request = HTTPRequest("https://h\(number).test/")
                    request.deadline = .seconds(3_600)
                    _ = try await client.send(request)
                }
            }
        }
        return [
            table("nothing, by origin") { [] },
            table("ConcurrencyLimit, by origin") { [ConcurrencyLimit()] },
            table("CircuitBreaker, by origin") { [CircuitBreaker()] },
            table("RateLimit, by origin") { [RateLimit(perSecond: 1e8, burst: 1e8)] },
            table("Hedging, by origin") { [Hedging()] },
            table("DeadlineHeader, by origin") { [DeadlineHeader.grpc(refusesHopeless: true)] },
        ]
    }

    private static var partitions: Table {
        Table(name: "RateLimit, partitions by credential", room: 1_000) {
            let client = client([RateLimit()]) { request in
                let partition = Data((request.headers[.authorization] ?? "").utf8).base64EncodedString()
                return HTTPResponse(
                    status: 200, headers: ["RateLimit": #""d";r=1000000;t=60;pk=:\#(partition):"#], request: request)
            }
            return { _ = try await client.send(HTTPRequest("https://h.test/", headers: [.authorization: "Bearer \($0)"])) }
        }
    }

    private static var pacing: Table {
        Table(name: "shared Retry-After, by origin", room: 1_000) {
            var configuration = HTTPClient.Configuration()
            configuration.sharesRetryAfter = true
            let client = client([], configuration) { HTTPResponse(status: 503, headers: [.retryAfter: "60"], request: $0) }
            return { number in
                var request = HTTPRequest("https://h\(number).test/")
                // What would have to wait ends at once.
                request.deadline = .seconds(30)
                _ = try? await client.send(request)
            }
        }
    }

    private static var refusals: Table {
        Table(name: "CompressRequests, refusals by origin", room: 1_000) {
            let client = client([CompressRequests(.gzip)]) { request in
                HTTPResponse(status: request.headers.contains("Content-Encoding") ? 415 : 200, request: request)
            }
            let body = HTTPBody.bytes([UInt8](repeating: 65, count: 1 << 10))
            return { _ = try await client.send(HTTPRequest(.put, "https://h\($0).test/", body: body)) }
        }
    }

    private static var realms: Table {
        Table(name: "DigestInterceptor, by realm", room: 100) {
            let client = client([DigestInterceptor(user: "u", password: "p", origins: ["https://h.test"])]) { request in
                let realm = request.url.lastPathComponent
                if request.headers[.authorization]?.contains("realm=\"\(realm)\"") == true {
                    return HTTPResponse(status: 200, request: request)
                }
                let challenge = "Digest realm=\"\(realm)\", nonce=\"n\", qop=\"auth\", algorithm=SHA-256"
                return HTTPResponse(status: 401, headers: [.wwwAuthenticate: challenge], request: request)
            }
            return { _ = try await client.send(HTTPRequest("https://h.test/\($0)")) }
        }
    }

    // MARK: Cookies

    private static var cookies: [Table] {
        [
            Table(name: "CookieJar, by host", room: 3_000) {
                let jar = CookieJar()
                return { number in
                    jar.set(try Cookie("sid", "1", domain: "h\(number).test"))
                    _ = jar.cookies(for: "https://h\(number).test/")
                }
            },
            Table(name: "CookieJar, by name", room: 50) {
                let jar = CookieJar()
                return { jar.set(try Cookie("c\($0)", "1", domain: "h.test")) }
            },
        ]
    }

    // MARK: Caches

    private static var caches: [Table] {
        [
            Table(name: "MemoryCacheStore, by URL", room: 1_000) { byURL(MemoryCacheStore(maximumBytes: 1_000 * 1_400)) },
            Table(name: "MemoryCacheStore, variants of a URL", room: 32) {
                let client = client([CacheInterceptor()]) {
                    HTTPResponse(status: 200, headers: stored(["Vary": "X-V"]), request: $0)
                }
                return { _ = try await client.send(HTTPRequest("https://h.test/", headers: ["X-V": "\($0)"])) }
            },
            Table(name: "DiskCacheStore, by URL", room: 500) {
                byURL(DiskCacheStore(folder.appendingPathComponent(UUID().uuidString), maximumBytes: 500 * 1_400))
            },
            Table(name: "URLs whose answers mayn't be shared", room: 10_000) {
                let client = client([CacheInterceptor()]) {
                    HTTPResponse(status: 200, headers: [.cacheControl: "no-store"], request: $0)
                }
                return { _ = try await client.send(HTTPRequest("https://h.test/\($0)")) }
            },
            Table(name: "URLs that were changed during a fetch", room: 10_000) {
                let client = client([CacheInterceptor(), Held()])
                // As long as it is under way, what changes is remembered.
                Task { try await client.send(HTTPRequest("https://h.test/held")) }
                return { _ = try await client.send(HTTPRequest(.put, "https://h.test/\($0)")) }
            },
            Table(name: "No-Vary-Search, by path", room: 4_096) {
                let client = client([CacheInterceptor()]) {
                    HTTPResponse(status: 200, headers: stored(["No-Vary-Search": "params=(\"utm\")"]), request: $0)
                }
                return { _ = try await client.send(HTTPRequest("https://h.test/\($0)?utm=1")) }
            },
        ]
    }

    private static func stored(_ headers: HTTPHeaders) -> HTTPHeaders {
        var headers = headers
        headers[.cacheControl] = "max-age=600"
        return headers
    }

    private static func byURL(_ store: any CacheStore) -> Table.Use {
        let body = HTTPBody.bytes([UInt8](repeating: 65, count: 700))
        let client = client([CacheInterceptor(store: store)]) {
            HTTPResponse(status: 200, headers: stored([:]), body: body, request: $0)
        }
        return { _ = try await client.send(HTTPRequest("https://h.test/\($0)")) }
    }

    /// Where stores on disk have theirs.
    static let folder = FileManager.default.temporaryDirectory.appendingPathComponent("table-bench-\(UUID().uuidString)")

    /// Lets one request never come to its end.
    private struct Held: HTTPInterceptor {
        let stage = InterceptorStage.exchange

        func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
            if request.url.path == "/held" { try await Task.sleep(for: .seconds(86_400)) }
            return try await next(request)
        }
    }

    // MARK: Fields

    private final class Message: Sendable {
        let headers = Mutex(HTTPHeaders())
    }

    /// As many as a head may have; there is no bound for those that a program sets.
    private static var fields: Table {
        Table(name: "HTTPHeaders, by name", room: 1_000) {
            let message = Message()
            return { number in message.headers.withLock { $0[HTTPHeaders.Name("X-\(number)")] = "1" } }
        }
    }
}
