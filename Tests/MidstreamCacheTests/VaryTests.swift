import Foundation
import Interception
import MidstreamCache
import MidstreamCacheStore
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("What answers vary by", .leavesNothing, .timeLimit(.minutes(10)))
struct VaryTests {
    @Test(
        "an answer to what was changed behind the cache, in a field of Vary or in its URL, is neither stored nor shared",
        arguments: [true, false])
    func changedBehind(isField: Bool) async throws {
        let stub = StubTransport { request in
            let tenant = request.headers["X-Tenant"] ?? request.url.path
            return HTTPResponse(
                status: 200, headers: ["Cache-Control": "max-age=60", "Vary": "X-Tenant, If-None-Match"], body: .text(tenant),
                request: request)
        }
        let client = testClient(transport: stub) {
            CacheInterceptor()
            ClosureRequestInterceptor("tenant", stage: .exchange) { request in
                let tenant = request.context[Tenant.self]
                if isField {
                    request.headers["X-Tenant"] = tenant
                } else {
                    request.url = URL(string: "http://h/\(tenant)") ?? request.url
                }
            }
        }
        for tenant in ["a", "b", "b"] {
            var request = HTTPRequest("http://h/")
            request.context[Tenant.self] = tenant
            let response = try await client.send(request)
            #expect(response.body.text == (isField ? tenant : "/\(tenant)") && response.cacheStatus?.isStored != true)
        }
        #expect(stub.requests.count == 3)
    }

    private enum Tenant: RequestContextKey { static let defaultValue = "" }

    @Test("a 304 with another Vary is heeded", arguments: ["Foo", "*"])
    func otherVary(vary: String) async throws {
        let bench = CacheBench { request in
            let foo = request.headers["Foo"] ?? ""
            let isAsked = request.headers["If-None-Match"] != nil && foo == "1"
            var headers: HTTPHeaders = ["Cache-Control": "max-age=10", "ETag": "\"\(foo)\""]
            if isAsked { headers["Vary"] = vary }
            return HTTPResponse(status: isAsked ? 304 : 200, headers: headers, body: .text(isAsked ? "" : foo), request: request)
        }
        _ = try await bench.get(CacheBench.url, ["Foo": "1"])
        bench.clock.advance(20)
        let validated = try await bench.get(CacheBench.url, ["Foo": "1"])
        #expect(validated.text == "1" && bench.sent == 2)
        #expect(try await bench.get(CacheBench.url, ["Foo": "1"]).isHit == (vary == "Foo"))
        #expect(try await bench.get(CacheBench.url, ["Foo": "2"]).text == "2")
    }

    @Test("what a 304 said to vary by anything is asked for each time, whatever later ones leave out")
    func varyByAnything() async throws {
        let bench = CacheBench { request in
            let isAsked = request.headers["If-None-Match"] != nil
            var headers: HTTPHeaders = ["Cache-Control": "max-age=10", "ETag": "\"a\""]
            if isAsked, request.headers["First"] != nil { headers["Vary"] = "*" }
            return HTTPResponse(status: isAsked ? 304 : 200, headers: headers, body: .text(isAsked ? "" : "x"), request: request)
        }
        _ = try await bench.get()
        bench.clock.advance(20)
        let headers: [HTTPHeaders] = [["First": "1"], [:], [:]]
        for (place, headers) in headers.enumerated() {
            let response = try await bench.get(CacheBench.url, headers)
            #expect(response.text == "x" && !response.isHit && bench.sent == place + 2)
        }
    }

    @Test("values and owners of other bytes are others, though Unicode has them equal", arguments: [true, false])
    func bytes(isOwner: Bool) async throws {
        let bench = CacheBench(options: { if isOwner { $0.partition = { $0.headers["Tenant"] } } }) { request in
            var headers: HTTPHeaders = ["Cache-Control": "max-age=99"]
            if !isOwner { headers["Vary"] = "Tenant" }
            return HTTPResponse(status: 200, headers: headers, request: request)
        }
        for tenant in ["K", "\u{212A}", "a\u{323}\u{307}", "a\u{307}\u{323}"] {
            for isHit in [false, true] {
                #expect(try await bench.get(CacheBench.url, ["Tenant": tenant]).isHit == isHit, "\(tenant)")
            }
        }
    }
}
