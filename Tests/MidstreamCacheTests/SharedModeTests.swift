import Foundation
import Interception
import MidstreamCache
import MidstreamCacheStore
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("What a shared cache keeps of one user", .leavesNothing, .timeLimit(.minutes(10)))
struct SharedModeTests {
    @Test(
        "a shared cache stores nothing personal unless told to", arguments: [false, true],
        ["Cookie", "X-API-Key", "Authorization", "Private-Thing", "Set-Cookie"])
    func personal(isAllowed: Bool, name: String) async throws {
        let bench = CacheBench(.shared, options: { $0.sharesPersonalResponses = isAllowed }) { request in
            var response = HTTPResponse(status: 200, headers: ["Cache-Control": "max-age=99"], request: request)
            if name == "Set-Cookie" { response.headers["Set-Cookie"] = "sid=alice" }
            return response
        }
        _ = try await bench.get { request in
            guard name != "Set-Cookie" else { return }
            request.headers[HTTPHeaders.Name(name)] = "alice"
            request.headers.markSensitive("Private-Thing")
        }
        let other = try await bench.get()
        #expect(other.isHit == (isAllowed && name != "Authorization"))
    }

    @Test("a shared cache sees what interceptors further in have added")
    func personalFurtherIn() async throws {
        struct Key: RequestInterceptor {
            var stage: InterceptorStage { .exchange }
            var rank: InterceptorRank { .signing }
            func intercept(request: inout HTTPRequest) async throws { request.headers["X-API-Key"] = "alice" }
        }
        let bench = CacheBench(.shared, [Key()]) { request in
            #expect(request.headers["X-API-Key"] == "alice")
            return HTTPResponse(status: 200, headers: ["Cache-Control": "max-age=99"], request: request)
        }
        for _ in 0..<2 { #expect(try await !bench.get().isHit) }
    }

    @Test("a 304 gives a shared cache no cookies", arguments: [CacheMode.shared, .private])
    func freshenedCookies(mode: CacheMode) async throws {
        let bench = CacheBench(mode) { request in
            var headers: HTTPHeaders = ["Cache-Control": "max-age=10", "ETag": "\"a\""]
            let isAsked = request.headers["If-None-Match"] != nil
            if isAsked { headers["Set-Cookie"] = "sid=alice" }
            return HTTPResponse(status: isAsked ? 304 : 200, headers: headers, request: request)
        }
        _ = try await bench.get()
        bench.clock.advance(20)
        _ = try await bench.get()
        let later = try await bench.get()
        #expect(later.isHit && later.headers["Set-Cookie"] == (mode == .private ? "sid=alice" : nil))
    }

    @Test(
        "what one user was answered changes nothing that all share, unless the server allows it",
        arguments: ["GET", "HEAD", "If-None-Match"], ["private, max-age=60", "max-age=60", "public, max-age=60"])
    func updatedForOneUser(by means: String, control: String) async throws {
        let bench = CacheBench(.shared) { request in
            let user = request.headers["Authorization"]
            let isAsked = request.headers["If-None-Match"] != nil
            return HTTPResponse(
                status: isAsked ? 304 : 200,
                headers: [
                    "Cache-Control": user == nil ? "public, max-age=10" : control, "ETag": "\"a\"", "User": user ?? "nobody",
                ], body: isAsked || request.method == .head ? .empty : .text("x"), request: request)
        }
        _ = try await bench.get()
        bench.clock.advance(20)
        let own = try await bench.get { request in
            request.headers["Authorization"] = "alice"
            if means == "If-None-Match" { request.headers["If-None-Match"] = "\"a\"" }
            if means == "HEAD" { request.method = .head }
        }
        #expect(own.headers["User"] == "alice" && own.text == (means == "GET" ? "x" : ""))
        let other = try await bench.get()
        let isShared = control.hasPrefix("public")
        #expect(other.headers["User"] == (isShared ? "alice" : "nobody") && other.isHit == isShared && other.text == "x")
    }
}
