import Foundation
import Interception
import MidstreamCacheStore
import MidstreamCookies
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamCache

@Suite("A cache in the pipeline", .leavesNothing, .timeLimit(.minutes(10)))
struct FlowTests {
    @Test("a fresh response answers with its age, and a stale one is fetched anew")
    func hitAndMiss() async throws {
        let bench = CacheBench(answers: [
            (200, ["Cache-Control": "max-age=60", "X": "1"], "one"), (200, ["Cache-Control": "max-age=60"], "two"),
        ])
        let first = try await bench.get()
        #expect(first.text == "one" && first.cacheStatus?.description == "Midstream; fwd=uri-miss; ttl=60; stored")
        bench.clock.advance(30)
        let second = try await bench.get()
        #expect(second.text == "one" && second.headers["Age"] == "30" && second.headers["X"] == "1")
        #expect(second.cacheStatus?.description == "Midstream; hit; ttl=30")
        #expect(second.trace.description.contains("answered from memory, fresh for 30 s"))
        let events = second.trace.events(named: "cache.outcome")
        #expect(events.map(\.attributes) == [["hit": true, "ttl": 30, "stored": false, "collapsed": false, "store": "memory"]])
        bench.clock.advance(31)
        #expect(try await bench.get().text == "two")
        #expect(bench.sent == 2)
        #expect(bench.cache.statistics.hits == 1 && bench.cache.statistics.misses == 2 && bench.cache.statistics.stored == 2)
    }

    @Test("equivalent URLs share an entry, and others don't")
    func keys() async throws {
        let bench = CacheBench(answers: [(200, ["Cache-Control": "max-age=60"], "one")])
        for url in ["http://cache.test/a", "HTTP://Cache.test:80/%61#top", "http://cache.test/b/../a"] {
            _ = try await bench.get(url)
        }
        #expect(bench.sent == 1)
        for url in ["http://cache.test/a?x=1", "https://cache.test/a"] { _ = try await bench.get(url) }
        #expect(bench.sent == 3)
    }

    @Test("what was asked of another host than the URL's isn't for the URL, nor what was stored for that for another host")
    func otherHost() async throws {
        let bench = CacheBench { request in
            HTTPResponse(
                status: 200, headers: ["Cache-Control": "max-age=60", "Content-Location": "/a"],
                body: .text(request.headers["Host"] ?? "its own"), request: request)
        }
        for method in [HTTPMethod.post, .get, .get] {
            #expect(try await bench.get(CacheBench.url, ["Host": "a.test"]) { $0.method = method }.text == "a.test")
        }
        #expect(try await bench.get().text == "its own")
        #expect(try await bench.get(CacheBench.url, ["Host": "b.test"]).text == "b.test")
        for host in ["cache.test", "Cache.test:80"] { #expect(try await bench.get(CacheBench.url, ["Host": host]).isHit) }
        #expect(bench.sent == 5)
    }

    @Test("a stale response is validated, its fields are replaced, and it is fresh again")
    func validation() async throws {
        let bench = CacheBench(answers: [
            (
                200,
                [
                    "Cache-Control": "max-age=10", "ETag": "\"a\"", "Last-Modified": "Tue, 14 Nov 2023 22:00:00 GMT", "A": "1",
                    "B": "1",
                ], "one"
            ),
            (304, ["Cache-Control": "max-age=100", "ETag": "\"a\"", "A": "2"], ""),
        ])
        _ = try await bench.get()
        bench.clock.advance(20)
        let validated = try await bench.get()
        #expect(validated.text == "one" && validated.headers["A"] == "2" && validated.headers["B"] == "1")
        #expect(validated.cacheStatus?.description == "Midstream; fwd=stale; fwd-status=304; ttl=100")
        let sent = try #require(bench.stub.requests.last)
        #expect(sent.headers["If-None-Match"] == "\"a\"" && sent.headers["If-Modified-Since"] == "Tue, 14 Nov 2023 22:00:00 GMT")
        bench.clock.advance(50)
        #expect(try await bench.get().headers["A"] == "2")
        #expect(bench.sent == 2)
    }

    @Test("a clock that was beyond the year 4001 for a moment doesn't keep a request from being sent")
    func farFuture() async throws {
        let bench = CacheBench(answers: [(200, ["Cache-Control": "max-age=60"], "x")])
        bench.clock.advance(70_000_000_000)
        _ = try await bench.get()
        bench.clock.advance(-70_000_000_000)
        let request = HTTPRequest(CacheBench.url, headers: ["Cache-Control": "max-age=0"])
        #expect(try await bench.client.send(request).text == "x")
        #expect(bench.sent == 2)
    }

    @Test("what has to be validated each time is stored")
    func alwaysValidated() async throws {
        let bench = CacheBench(answers: [
            (200, ["Cache-Control": "no-cache", "ETag": "\"a\""], "one"), (304, ["ETag": "\"a\""], ""),
        ])
        for _ in 0..<3 { #expect(try await bench.get().text == "one") }
        #expect(bench.stub.requests.map { $0.headers["If-None-Match"] } == [nil, "\"a\"", "\"a\""])
    }

    @Test("a 304 picks the variant whose tag it names, of all that were asked about")
    func variants() async throws {
        let bench = CacheBench { request in
            let language = request.headers["Accept-Language"] ?? ""
            var headers: HTTPHeaders = ["Cache-Control": "max-age=10", "Vary": "Accept-Language", "ETag": "\"\(language)\""]
            guard language != "fr" else {
                headers["ETag"] = "W/\"en\""
                return HTTPResponse(status: 304, headers: headers, request: request)
            }
            return HTTPResponse(status: 200, headers: headers, body: .text(language), request: request)
        }
        for language in ["en", "de"] { _ = try await bench.get(CacheBench.url, ["Accept-Language": language]) }
        #expect(bench.sent == 2)
        let third = try await bench.get(CacheBench.url, ["Accept-Language": "fr"])
        #expect(third.text == "en" && third.cacheStatus?.forward == .varyMiss)
        #expect(bench.stub.requests.last?.headers["If-None-Match"] == "\"de\", \"en\"")
        #expect(try await bench.get(CacheBench.url, ["Accept-Language": "de"]).isHit)
    }

    @Test("when the body of what a 304 speaks of is gone, the request is sent again without conditions")
    func vanished() async throws {
        let store = MemoryCacheStore()
        let bench = CacheBench(store: store) { request in
            if request.headers["If-None-Match"] != nil {
                await store.removeAll(origin: nil)
                return HTTPResponse(status: 304, request: request)
            }
            return HTTPResponse(
                status: 200, headers: ["Cache-Control": "max-age=1", "ETag": "\"a\""], body: .text("one"), request: request)
        }
        _ = try await bench.get()
        bench.clock.advance(5)
        #expect(try await bench.get().text == "one")
        #expect(bench.sent == 3)
    }

    @Test("a POST that wants nothing stored isn't, nor is one whose freshness isn't told")
    func unstoredPosts() async throws {
        let cases: [(HTTPHeaders, CacheUse)] = [(["Cache-Control": "max-age=60"], .noStore), (["ETag": "\"a\""], .standard)]
        for (fields, use) in cases {
            let bench = CacheBench { request in
                var headers = fields
                headers[.contentLocation] = CacheBench.url
                return HTTPResponse(status: .ok, headers: headers, body: .text("one"), request: request)
            }
            var post = HTTPRequest(.post, CacheBench.url, body: .text("a"))
            post.cache = use
            _ = try await bench.client.send(post)
            #expect(try await !bench.get().isHit && bench.stub.requests.last?.headers["If-None-Match"] == nil)
        }
    }

    @Test("conditions are judged where the answer would be a success, and those of changes by the server")
    func otherConditions() async throws {
        let missing = CacheBench(answers: [(404, ["Cache-Control": "max-age=60", "ETag": "\"a\""], "missing")])
        _ = try await missing.get()
        let again = try await missing.get(CacheBench.url, ["If-None-Match": "\"a\""])
        #expect(again.status == 404 && again.text == "missing" && again.isHit)
        for name in ["If-Match", "If-Unmodified-Since"] as [HTTPHeaders.Name] {
            let bench = CacheBench(answers: [(200, ["Cache-Control": "max-age=60", "ETag": "\"a\""], "one"), (412, [:], "")])
            _ = try await bench.get()
            #expect(try await bench.get(CacheBench.url, [name: "\"b\""]).status == 412)
        }
    }

    @Test("the caller's own conditions are answered from what is fresh, and passed on else")
    func ownConditions() async throws {
        let modified = "Tue, 14 Nov 2023 22:00:00 GMT"
        let bench = CacheBench { request in
            let isOwn = request.headers["If-None-Match"] != nil
            return HTTPResponse(
                status: isOwn ? 304 : 200,
                headers: ["Cache-Control": "max-age=10", "ETag": "\"a\"", "Last-Modified": modified, "Content-Type": "x/y"],
                body: isOwn ? .empty : .text("one"), request: request)
        }
        _ = try await bench.get()
        let same = try await bench.get(CacheBench.url, ["If-None-Match": "\"b\", \"a\""])
        #expect(same.status == 304 && same.headers["ETag"] == "\"a\"" && same.headers["Content-Type"] == nil && same.isHit)
        #expect(try await bench.get(CacheBench.url, ["If-None-Match": "\"b\"", "If-Modified-Since": modified]).text == "one")
        #expect(try await bench.get(CacheBench.url, ["If-Modified-Since": "Tuesday, 14-Nov-23 22:00:01 GMT"]).status == 304)
        #expect(try await bench.get(CacheBench.url, ["If-Modified-Since": "Tue, 14 Nov 2023 21:00:00 GMT"]).status == 200)
        #expect(bench.sent == 1)
        bench.clock.advance(20)
        #expect(try await bench.get(CacheBench.url, ["If-None-Match": "\"a\""]).status == 304)
        #expect(bench.sent == 2)
        #expect(try await bench.get().isHit, "the 304 to the caller's own condition freshened what is stored")
    }

    @Test("a request can want the server, nothing stored, nothing sent, or anything stored")
    func uses() async throws {
        let bench = CacheBench(answers: [
            (200, ["Cache-Control": "max-age=10", "ETag": "\"a\""], "one"), (200, ["Cache-Control": "max-age=10"], "two"),
        ])
        let missing = try await bench.get { $0.cache = .onlyIfCached }
        #expect(missing.status == 504 && bench.sent == 0)
        let unanswerable: [(HTTPMethod, HTTPHeaders)] = [(.post, [:]), (.get, ["If-Match": "\"a\""])]
        for (method, headers) in unanswerable {
            let refused = try await bench.get(CacheBench.url, headers) { ($0.method, $0.cache) = (method, .onlyIfCached) }
            #expect(refused.status == 504 && bench.sent == 0)
        }
        _ = try await bench.get()
        #expect(try await bench.get { $0.cache = .onlyIfCached }.text == "one")
        bench.clock.advance(20)
        #expect(try await bench.get { $0.cache = .onlyIfCached }.status == 504)
        #expect(try await bench.get { $0.cache = .ignoringFreshness }.text == "one")
        #expect(try await bench.get { $0.cache = .noStore }.text == "two")
        #expect(bench.sent == 2 && bench.stub.requests.last?.headers["If-None-Match"] == nil)
        #expect(try await bench.get { $0.cache = .ignoringFreshness }.text == "one")
        #expect(try await bench.get { $0.cache = .reload }.text == "two")
        #expect(bench.stub.requests.last?.headers["If-None-Match"] == nil)
        #expect(try await bench.get().text == "two" && bench.sent == 3)
    }

    @Test("a made 504 isn't tried again")
    func madeIsFinal() async throws {
        var configuration = HTTPClient.Configuration()
        configuration.maxRetries = 3
        let stub = StubTransport.ok
        let client = testClient(configuration: configuration, transport: stub) { CacheInterceptor() }
        await #expect {
            _ = try await client.send(HTTPRequest("http://h/", headers: ["Cache-Control": "only-if-cached"]))
        } throws: {
            ($0 as? HTTPError)?.code == .unacceptableStatus
        }
        #expect(stub.requests.isEmpty)
    }

    private struct Wants: HTTPValidator {
        let text: String

        func validate(_ response: HTTPResponse, for request: HTTPRequest) async throws -> HTTPVerdict {
            response.body.text == text ? .next : .retry(.immediate)
        }
    }

    @Test(
        "a retry in place of an answer asks the server, however fresh that is", arguments: [HTTPStatus.ok, .serviceUnavailable])
    func retries(status: HTTPStatus) async throws {
        let bench = CacheBench(answers: [
            (status, ["Cache-Control": "max-age=60", "ETag": "\"a\""], "one"), (.ok, ["Cache-Control": "max-age=60"], "two"),
        ])
        func request(_ wanted: String) -> HTTPRequest {
            var request = HTTPRequest(CacheBench.url)
            request.maxRetries = 2
            request.validators = [Wants(text: wanted)]
            return request
        }
        let response = try await bench.client.send(request("two"))
        #expect(response.body.text == "two" && bench.sent == 2)
        #expect(bench.stub.requests.last?.headers["If-None-Match"] == "\"a\"")
        // A call that begins with what another had is no retry.
        var again = response.request
        again.validators = []
        #expect(try await bench.client.send(again).body.text == "two" && bench.sent == 2)
        let error = await httpError { try await bench.client.send(request("three")) }
        #expect(error?.code == .retriesExhausted && bench.sent == 4)
    }

    @Test("a retry that may have nothing but what is stored gets it again")
    func retriesWithoutServer() async throws {
        let bench = CacheBench(answers: [(.ok, ["Cache-Control": "max-age=60"], "one")])
        _ = try await bench.get()
        for use in [CacheUse.onlyIfCached, .ignoringFreshness] {
            var request = HTTPRequest(CacheBench.url)
            (request.maxRetries, request.validators, request.cache) = (1, [Wants(text: "two")], use)
            let error = await httpError { [request] in try await bench.client.send(request) }
            #expect(error?.code == .retriesExhausted && error?.response?.body.text == "one" && bench.sent == 1)
        }
    }

    @Test("a 304 whose tag lacks the coding that the stored one names confirms it, and that one stays")
    func codedTag() async throws {
        let conditions = Locked<[String?]>([])
        let bench = CacheBench { request in
            let condition = request.headers["If-None-Match"]
            conditions.withLock { $0.append(condition) }
            let fields: HTTPHeaders = ["Cache-Control": "max-age=10", "ETag": condition == nil ? "\"a-gzip\"" : "\"a\""]
            return HTTPResponse(
                status: condition == nil ? 200 : 304, headers: fields, body: condition == nil ? .text("one") : .empty,
                request: request)
        }
        for _ in 0..<3 {
            #expect(try await bench.get().text == "one")
            bench.clock.advance(20)
        }
        #expect(conditions.withLock { $0 } == [nil, "\"a-gzip\"", "\"a-gzip\""])
    }

    @Test("HEAD is answered from a stored GET, and a stale one is updated or made to be validated by it")
    func head() async throws {
        let tag = Locked("\"a\"")
        let bench = CacheBench { request in
            HTTPResponse(
                status: 200, headers: ["Cache-Control": "max-age=10", "ETag": tag.withLock { $0 }],
                body: request.method == .head ? .empty : .text("one"), request: request)
        }
        let head = { try await bench.client.send(HTTPRequest(.head, CacheBench.url)) }
        #expect(try await head().cacheStatus?.isHit == false)
        _ = try await bench.get()
        #expect(try await head().isHit)
        bench.clock.advance(20)
        #expect(try await head().isHit == false)
        #expect(try await bench.get().isHit)
        tag.withLock { $0 = "\"b\"" }
        bench.clock.advance(20)
        _ = try await head()
        let later = try await bench.get()
        #expect(!later.isHit && later.headers["ETag"] == "\"b\"")
    }

    @Test("an unsafe request that succeeds makes what it changes be forgotten", arguments: ["POST", "PUT", "DELETE", "M-SEARCH"])
    func invalidation(method: String) async throws {
        let bench = CacheBench { request in
            if request.method != .get {
                return HTTPResponse(
                    status: request.headers["Fail"] == nil ? 200 : 500,
                    headers: ["Location": "/b", "Content-Location": "http://elsewhere.test/a"], request: request)
            }
            return HTTPResponse(status: 200, headers: ["Cache-Control": "max-age=99"], body: .text("x"), request: request)
        }
        let urls = ["http://cache.test/a", "http://cache.test/b", "http://elsewhere.test/a"]
        for url in urls { _ = try await bench.get(url) }
        _ = try await bench.client.send(HTTPRequest(HTTPMethod(rawValue: method), urls[0], headers: ["Fail": "1"]))
        for url in urls { #expect(try await bench.get(url).isHit) }
        _ = try await bench.client.send(HTTPRequest(HTTPMethod(rawValue: method), urls[0]))
        var hits: [Bool] = []
        for url in urls { hits.append(try await bench.get(url).isHit) }
        #expect(hits == [false, false, true])
    }

    @Test("what a request has written to elsewhere is forgotten, too")
    func destination() async throws {
        let bench = CacheBench { request in
            HTTPResponse(status: 200, headers: ["Cache-Control": "max-age=99"], body: .text("x"), request: request)
        }
        let urls = ["http://cache.test/b", "http://elsewhere.test/b"]
        for url in urls {
            _ = try await bench.get(url)
            _ = try await bench.client.send(HTTPRequest("MOVE", "http://cache.test/a", headers: ["Destination": url]))
        }
        var hits: [Bool] = []
        for url in urls { hits.append(try await bench.get(url).isHit) }
        #expect(hits == [false, true])
    }

    @Test("what was on its way when it was made wrong isn't stored")
    func generations() async throws {
        let gate = Gate()
        let bench = CacheBench { request in
            if request.method == .get { await gate.wait() }
            return HTTPResponse(status: 200, headers: ["Cache-Control": "max-age=99"], body: .text("x"), request: request)
        }
        let old = Task { try await bench.get() }
        await gate.reached()
        _ = try await bench.client.send(HTTPRequest(.put, CacheBench.url))
        gate.open()
        #expect(try await old.value.text == "x")
        #expect(try await !bench.get().isHit)
        #expect(try await bench.get().isHit)
    }

    @Test("a POST that says what a GET would be answered is stored for that")
    func post() async throws {
        let bench = CacheBench(answers: [(200, ["Cache-Control": "max-age=60", "Content-Location": "/a"], "one")])
        _ = try await bench.client.send(HTTPRequest(.post, CacheBench.url))
        #expect(try await bench.get().isHit)
        _ = try await bench.client.send(HTTPRequest(.post, "http://cache.test/other"))
        #expect(try await !bench.get("http://cache.test/other").isHit)
    }

    @Test("Clear-Site-Data forgets the origin, and the cache can be told to forget")
    func clearing() async throws {
        let bench = CacheBench { request in
            var headers: HTTPHeaders = ["Cache-Control": "max-age=99"]
            if request.urlText.hasSuffix("clear") { headers = ["Clear-Site-Data": "\"cookies\", \"cache\""] }
            return HTTPResponse(status: 200, headers: headers, request: request)
        }
        for url in ["http://a.test/1", "http://b.test/1"] { _ = try await bench.get(url) }
        _ = try await bench.get("http://a.test/clear")
        #expect(try await !bench.get("http://a.test/1").isHit)
        #expect(try await bench.get("http://b.test/1").isHit)
        await bench.cache.remove("http://b.test:80/1")
        #expect(try await !bench.get("http://b.test/1").isHit)
        await bench.cache.removeAll()
        #expect(try await !bench.get("http://a.test/1").isHit)
    }

    @Test("the cache forgets a URL as a request would have it", arguments: ["ü", "a b", "1?q=ü", "../x|y", "1#part"])
    func removingAsWritten(path: String) async throws {
        let bench = CacheBench { HTTPResponse(status: 200, headers: ["Cache-Control": "max-age=99"], request: $0) }
        let url = "http://Bücher.test/\(path)"
        for isHit in [false, true] { #expect(try await bench.get(url).isHit == isHit) }
        await bench.cache.remove(url)
        #expect(try await !bench.get(url).isHit)
    }

    @Test("what one user was answered isn't for another, and secrets aren't kept")
    func partitions() async throws {
        let bench = CacheBench { request in
            HTTPResponse(
                status: 200, headers: ["Cache-Control": "max-age=99"], body: .text(request.headers["Authorization"] ?? "nobody"),
                request: request)
        }
        for user in ["alice", "bob"] {
            for _ in 0..<2 { #expect(try await bench.get(CacheBench.url, ["Authorization": user]).text == user) }
        }
        #expect(bench.sent == 2)
        #expect(try await bench.get().text == "nobody")
        #expect(try await bench.get(CacheBench.url, ["Cookie": "a=b"]).isHit, "what was answered without credentials is for all")
        #expect(bench.sent == 3)
        _ = try await bench.client.send(HTTPRequest(.put, CacheBench.url))
        #expect(try await !bench.get(CacheBench.url, ["Authorization": "alice"]).isHit, "forgotten for all users")
    }

    @Test("who was refused for want of credentials isn't refused again when he has them", arguments: [401, 407])
    func refused(code: Int) async throws {
        let bench = CacheBench(options: { $0.partition = { _ in "alice" } }) { request in
            let isKnown = request.headers["Authorization"] == "new"
            return HTTPResponse(
                status: isKnown ? 200 : HTTPStatus(code), headers: ["Cache-Control": "max-age=60"], request: request)
        }
        #expect(try await bench.get().status == HTTPStatus(code))
        #expect(try await bench.get(CacheBench.url, ["Authorization": "old"]).status == HTTPStatus(code))
        #expect(try await bench.get(CacheBench.url, ["Authorization": "new"]).status == 200)
        #expect(try await bench.get(CacheBench.url, ["Authorization": "new"]).isHit)
    }

    @Test(
        "an answer to what was sent with secrets that the cache didn't see isn't stored, and the trace says so",
        arguments: [nil, "X-Plain", "Authorization", "Cookie", "query"])
    func addedFurtherIn(_ added: String?) async throws {
        // Of the full form and without an identity, so that nobody can tell beforehand.
        let inner = ClosureHTTPInterceptor(stage: .exchange) { request, next in
            var request = request
            switch added {
            case "query": request.addQuery("page", "2")
            case let name?: request.headers[HTTPHeaders.Name(name)] = "alice"
            case nil: break
            }
            return try await next(request)
        }
        let bench = CacheBench(.private, [inner]) { request in
            HTTPResponse(status: 200, headers: ["Cache-Control": "max-age=99"], request: request)
        }
        let isStored = added == nil || added == "X-Plain"
        let first = try await bench.get()
        #expect(first.trace.description.contains("it was sent with credentials that are added further in") == !isStored)
        #expect(try await bench.get().isHit == isStored)
    }

    @Test("the user can say who shares what")
    func givenPartitions() async throws {
        let bench = CacheBench(options: { $0.partition = { $0.headers["Tenant"] } }) { request in
            HTTPResponse(status: 200, headers: ["Cache-Control": "max-age=99"], request: request)
        }
        _ = try await bench.get(CacheBench.url, ["Tenant": "a", "Authorization": "1"])
        #expect(try await bench.get(CacheBench.url, ["Tenant": "a", "Authorization": "2"]).isHit)
        #expect(try await !bench.get(CacheBench.url, ["Tenant": "b", "Authorization": "1"]).isHit)
        #expect(try await !bench.get().isHit)
    }

    @Test("a shared cache has one entry for all, of what it may store")
    func shared() async throws {
        let bench = CacheBench(.shared) { request in
            let control = request.urlText.hasSuffix("open") ? "max-age=99, public" : "max-age=99"
            return HTTPResponse(status: 200, headers: ["Cache-Control": control], request: request)
        }
        for url in ["http://h.test/open", "http://h.test/own"] {
            _ = try await bench.get(url, ["Authorization": "a", "Cookie": "b"])
        }
        #expect(try await bench.get("http://h.test/open").isHit)
        #expect(try await !bench.get("http://h.test/own").isHit)
    }

    @Test("cookies of a stored response aren't taken again")
    func cookies() async throws {
        let jar = CookieJar()
        let bench = CacheBench(options: { _ in }, [CookieInterceptor(jar)]) { request in
            HTTPResponse(status: 200, headers: ["Cache-Control": "max-age=99", "Set-Cookie": "a=1"], request: request)
        }
        _ = try await bench.get()
        #expect(jar.cookies.count == 1)
        jar.removeAll()
        let again = try await bench.get()
        #expect(again.isHit && again.headers["Set-Cookie"] == "a=1" && jar.cookies.isEmpty)
    }

    @Test("cookies of an error are taken, though a stale response answers in its place", arguments: [false, true])
    func cookiesOfAnError(isSet: Bool) async throws {
        let (jar, isDown) = (CookieJar(), Locked(false))
        let bench = CacheBench(options: { $0.partition = { _ in nil } }, [CookieInterceptor(jar)]) { request in
            if isDown.withLock({ $0 }) { return HTTPResponse(status: 503, headers: ["Set-Cookie": "node=2"], request: request) }
            var headers: HTTPHeaders = ["Cache-Control": "max-age=10, stale-if-error=60"]
            if isSet { headers["Set-Cookie"] = "node=1" }
            return HTTPResponse(status: 200, headers: headers, body: .text("one"), request: request)
        }
        _ = try await bench.get()
        #expect(jar.cookies.map(\.value) == (isSet ? ["1"] : []))
        bench.clock.advance(20)
        isDown.withLock { $0 = true }
        #expect(try await bench.get().text == "one")
        #expect(jar.cookies.map(\.value) == ["2"])
    }

    @Test("URLs whose queries differ in what doesn't matter share an entry")
    func noVarySearch() async throws {
        let bench = CacheBench(answers: [
            (200, ["Cache-Control": "max-age=99", "No-Vary-Search": "key-order, params=(\"utm\")"], "x")
        ])
        _ = try await bench.get("http://cache.test/p?a=1&b=2&utm=3")
        #expect(try await bench.get("http://cache.test/p?b=2&a=1").isHit)
        #expect(try await !bench.get("http://cache.test/p?a=2&b=2").isHit)
        _ = try await bench.client.send(HTTPRequest(.delete, "http://cache.test/p?b=2&a=1"))
        #expect(try await !bench.get("http://cache.test/p?a=1&b=2").isHit)
    }

    @Test("each hop of a redirect is looked up by its own URL")
    func redirects() async throws {
        let bench = CacheBench { request in
            let path = request.url.path
            let (status, target): (HTTPStatus, String?) = path == "/1" ? (301, "/2") : path == "/2" ? (302, "/3") : (200, nil)
            var headers: HTTPHeaders = path == "/2" ? [:] : ["Cache-Control": "max-age=99"]
            if let target { headers["Location"] = target }
            return HTTPResponse(status: status, headers: headers, body: .text(path), request: request)
        }
        for _ in 0..<3 { #expect(try await bench.get("http://cache.test/1").text == "/3") }
        #expect(bench.stub.requests.map { $0.url.path } == ["/1", "/2", "/3", "/2", "/2"])
    }

    @Test("the status of the cache can be a field")
    func statusField() async throws {
        let bench = CacheBench(options: { $0.addsCacheStatus = true }) { request in
            HTTPResponse(status: 200, headers: ["Cache-Control": "max-age=60"], request: request)
        }
        _ = try await bench.get()
        #expect(try await bench.get().headers["Cache-Status"] == "Midstream; hit; ttl=60")
    }
}
