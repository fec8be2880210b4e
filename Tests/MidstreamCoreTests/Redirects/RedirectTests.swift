import Foundation
import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("Redirects (RFC 9110 §15.4)", .leavesNothing)
struct RedirectTests {
    /// Answers with a redirect first and 200 afterwards.
    private func redirecting(_ status: HTTPStatus, to location: String?) -> StubTransport {
        StubTransport { [isFirst = Locked(true)] request in
            let redirects = isFirst.lower()
            guard redirects else { return HTTPResponse(status: .ok, request: request) }
            var headers = HTTPHeaders()
            headers[.location] = location
            return HTTPResponse(status: status, headers: headers, body: .text("moved"), request: request)
        }
    }

    private func client(_ stub: StubTransport, _ policy: RedirectPolicy? = nil) -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        configuration.headers = [:]
        if let policy { configuration.redirects = policy }
        return testClient(configuration: configuration, transport: stub)
    }

    @Test("to another origin go no trailers that are marked as sensitive", arguments: ["https://a/b", "https://b/"])
    func trailers(location: String) async throws {
        let stub = redirecting(307, to: location)
        var request = HTTPRequest(.put, "https://a/", body: .stream { AsyncStream<[UInt8]> { $0.finish() } })
        request.trailers = { .sumAndKey }
        _ = try await client(stub).send(request)
        let sent = try #require(stub.requests.last?.trailers?())
        #expect(sent["X-Sum"] == "1" && (sent["X-Key"] == nil) == (location == "https://b/"))
    }

    @Test(
        "the method that follows",
        arguments: [
            (301, "GET", "GET"), (301, "HEAD", "HEAD"), (301, "POST", "GET"), (301, "PUT", "PUT"), (301, "DELETE", "DELETE"),
            (301, "PATCH", "PATCH"), (302, "GET", "GET"), (302, "HEAD", "HEAD"), (302, "POST", "GET"), (302, "PUT", "PUT"),
            (302, "PATCH", "PATCH"), (303, "GET", "GET"), (303, "HEAD", "HEAD"), (303, "POST", "GET"), (303, "PUT", "GET"),
            (303, "DELETE", "GET"), (303, "PATCH", "GET"), (307, "GET", "GET"), (307, "POST", "POST"), (307, "PUT", "PUT"),
            (307, "HEAD", "HEAD"), (308, "GET", "GET"), (308, "POST", "POST"), (308, "DELETE", "DELETE"), (308, "PURGE", "PURGE"),
        ])
    func methods(status: Int, method: String, expected: String) async throws {
        let stub = redirecting(HTTPStatus(status), to: "/new")
        let hasBody = !["GET", "HEAD"].contains(method)
        let headers: HTTPHeaders = [
            "Content-Type": "x/y", "content-language": "de", "Content-Encoding": "br", "Digest": "1", "Expect": "100-continue",
            "Content-Digest": "sha-256=:AA==:", "Repr-Digest": "sha-256=:AA==:", "Unencoded-Digest": "sha-256=:AA==:",
            "X-Kept": "1",
        ]
        let request = HTTPRequest(
            HTTPMethod(rawValue: method), "https://h/old", headers: hasBody ? headers : ["X-Kept": "1"],
            body: hasBody ? .text("body") : .empty)
        #expect(try await client(stub).send(request).status == .ok)
        let followed = try #require(stub.requests.last)
        #expect(followed.method.rawValue == expected && followed.urlText == "https://h/new")
        #expect(followed.headers["X-Kept"] == "1")
        if hasBody {
            let isKept = expected == method
            #expect(followed.body.text == (isKept ? "body" : ""))
            #expect(followed.headers.count == (isKept ? 9 : 1))
        }
    }

    @Test("a route is that of its URL: another one has none", arguments: [("/users/1", "users/{}"), ("/new", nil)])
    func route(location: String, expected: String?) async throws {
        let id = 1
        for policy in [.follow(), .followWithOriginalHeaders(), .custom { request, _ in request }] as [RedirectPolicy] {
            let stub = redirecting(.temporaryRedirect, to: location)
            var request = HTTPRequest("users/\(id)")
            request.redirects = policy
            let response = try await testClient(baseURL: "https://h", transport: stub).send(request)
            #expect(response.request.route == expected && stub.requests.map(\.route) == ["users/{}", expected])
        }
    }

    @Test(
        "the call may be made again if all that was sent may be, whatever the last hop is",
        arguments: [("GET", true), ("PUT", true), ("POST", false)])
    func transience(method: String, expected: Bool) async throws {
        for policy in [.follow(), .custom { _, _ in HTTPRequest("https://h/new") }] as [RedirectPolicy] {
            let stub = StubTransport(sequence: [
                .respond(303, headers: ["Location": "/a"]), .respond(302, headers: ["Location": "/b"]), .respond(503),
            ])
            let request = HTTPRequest(HTTPMethod(rawValue: method), "https://h/old")
            let error = await httpError { try await client(stub, policy).send(request) }
            #expect(error?.code == .unacceptableStatus && error?.isTransient == expected)
        }
    }

    @Test("a call whose body has been read can't be made again, though the last hop has none")
    func spentBody() async throws {
        let stub = StubTransport { request in
            guard request.method == .put else { return HTTPResponse(status: 503, request: request) }
            _ = try await request.body.collect()
            return HTTPResponse(status: 303, headers: ["Location": "/a"], request: request)
        }
        let body = HTTPBody.once(
            AsyncStream {
                $0.yield([65])
                $0.finish()
            })
        let error = await httpError { try await client(stub).send(HTTPRequest(.put, "https://h/old", body: body)) }
        #expect(error?.code == .unacceptableStatus && error?.isTransient == false)
    }

    @Test("a last hop that is sent once more is a call of its own, whatever led there")
    func lastHop() async throws {
        let stub = StubTransport(sequence: [.respond(303, headers: ["Location": "/a"]), .respond(503), .respond(503)])
        let error = await httpError { try await client(stub).send(HTTPRequest(.post, "https://h/old")) }
        #expect(error?.isTransient == false)
        let hop = try #require(error?.request)
        #expect(await httpError { try await client(stub).send(hop) }?.isTransient == true)
    }

    @Test("only statuses that redirect are followed", arguments: [200, 201, 300, 304, 305, 306, 399])
    func otherStatuses(code: Int) async throws {
        let stub = redirecting(HTTPStatus(code), to: "/new")
        #expect(try await client(stub).send(HTTPRequest("https://h/old")).status.code == code)
        #expect(stub.requests.count == 1)
    }

    @Test(
        "relative, schemeless and absolute locations, and fragments",
        arguments: [
            ("new?x=1", "https://h/a/new?x=1"), ("../new", "https://h/new"), ("//other/new", "https://other/new"),
            ("https://other/new#own", "https://other/new#own"), ("?q", "https://h/a/old?q#frag"),
            ("/ü b", "https://h/%C3%BC%20b"),
        ])
    func locations(location: String, expected: String) async throws {
        let stub = redirecting(302, to: location)
        let response = try await client(stub).send(HTTPRequest("https://h/a/old?z#frag"))
        let suffix = expected.contains("#") ? "" : "#frag"
        #expect(stub.requests.last?.urlText == expected + suffix)
        #expect(response.request.urlText == expected + suffix)
    }

    @Test(
        "a missing location, an empty one, and one that can't be requested leave the redirect as the response",
        arguments: [nil, "", " ", "ftp://h/x", "javascript:x", "http://", "https://h:99999/"])
    func badLocation(location: String?) async throws {
        let stub = redirecting(302, to: location)
        let response = try await client(stub).send(HTTPRequest("https://h/old"))
        #expect(response.status == 302 && response.body.text == "moved" && stub.requests.count == 1)
    }

    @Test("credentials stay within the origin", arguments: ["/new", "https://h/new", "https://H:443/new", "HTTPS://h/new"])
    func sameOrigin(location: String) async throws {
        let followed = try await credentials(followedTo: location, from: "https://h/old")
        #expect(followed["Authorization"] == "a" && followed["Cookie"] == "c" && followed["X-Mine"] == "m")
        #expect(followed["X-Other"] == "o" && followed["Host"] == "h")
    }

    @Test(
        "credentials, and what is marked sensitive, don't go to another origin",
        arguments: [
            ("https://other/new", "https://h/old"), ("https://h:444/new", "https://h/old"),
            ("https://sub.h/new", "https://h/old"),
            ("https://h/new", "http://h/old"), ("//other/new", "https://h/old"), ("https://h.evil/new", "https://h/old"),
        ])
    func otherOrigin(location: String, from url: String) async throws {
        for policy in [RedirectPolicy.follow(), .followWithOriginalHeaders(), .custom { request, _ in request }] {
            let followed = try await credentials(followedTo: location, from: url, policy)
            #expect(followed == ["X-Other": "o"])
        }
    }

    private func credentials(
        followedTo location: String, from url: String, _ policy: RedirectPolicy = .follow()
    ) async throws -> HTTPHeaders {
        let stub = redirecting(302, to: location)
        var headers: HTTPHeaders = [
            "Authorization": "a", "Cookie": "c", "Proxy-Authorization": "p", "X-Mine": "m", "X-Other": "o", "Host": "h",
            "X-API-Key": "k",
        ]
        headers.markSensitive("X-Mine")
        _ = try await client(stub, policy).send(HTTPRequest(url, headers: headers))
        return try #require(stub.requests.last?.headers)
    }

    @Test("credentials that were dropped don't come back when the way leads home")
    func thereAndBack() async throws {
        let stub = StubTransport(sequence: [
            .respond(302, headers: ["Location": "https://other/"]), .respond(302, headers: ["Location": "https://h/home"]),
            .respond(.ok),
        ])
        _ = try await client(stub).send(HTTPRequest("https://h/", headers: ["Authorization": "a"]))
        #expect(stub.requests.map { $0.headers["Authorization"] } == ["a", nil, nil])
    }

    @Test("user and password of a location become the header that they stand for, before an interceptor sees them")
    func userInfoInLocation() async throws {
        let stub = redirecting(302, to: "https://user:pass@other/new")
        let steps = Steps()
        let client = testClient(transport: stub) {
            ClosureRequestInterceptor(stage: .exchange) { steps.note("\($0.urlText) \($0.headers[.authorization] ?? "")") }
        }
        _ = try await client.send(HTTPRequest("https://h/", headers: ["Authorization": "a"]))
        #expect(steps.all == ["https://h/ a", "https://other/new Basic dXNlcjpwYXNz"])
        #expect(stub.requests.last?.urlText == "https://other/new")
        #expect(stub.requests.last?.headers.values(.authorization) == ["Basic dXNlcjpwYXNz"])
    }

    @Test("from https to http isn't followed unless allowed")
    func downgrade() async throws {
        let refused = redirecting(302, to: "http://h/new")
        let response = try await client(refused).send(HTTPRequest("https://h/"))
        #expect(response.status == 302 && refused.requests.count == 1)
        #expect(response.trace.description.contains("didn't follow 302 from https to http"))
        let allowed = redirecting(302, to: "http://h/new")
        let policy = RedirectPolicy.follow(allowsDowngrade: true)
        #expect(try await client(allowed, policy).send(HTTPRequest("https://h/", headers: ["Cookie": "c"])).status == .ok)
        #expect(allowed.requests.last?.urlText == "http://h/new" && allowed.requests.last?.headers["Cookie"] == nil)
        let upper = redirecting(302, to: "HTTP://h/new")
        #expect(try await client(upper, .followWithOriginalHeaders()).send(HTTPRequest("HTTPS://h/")).status == 302)
    }

    @Test("a closure decides about a step from https to http, which takes no credentials along")
    func customDowngrade() async throws {
        let request = HTTPRequest("https://h/", headers: ["Cookie": "c", .authorization: "a"])
        let allowed = redirecting(302, to: "http://h/new")
        #expect(try await client(allowed, .custom { next, _ in next }).send(request).status == .ok)
        #expect(allowed.requests.last?.urlText == "http://h/new" && allowed.requests.last?.headers.isEmpty == true)
        let refused = redirecting(302, to: "http://h/new")
        let policy = RedirectPolicy.custom { next, _ in next.urlText.hasPrefix("https:") ? next : nil }
        #expect(try await client(refused, policy).send(request).status == 302 && refused.requests.count == 1)
    }

    @Test("past the limit it fails with the last response", arguments: [0, 1, 10])
    func limit(limit: Int) async {
        let stub = StubTransport(status: 302, headers: ["Location": "/again"], body: .text("last"))
        let error = await httpError { try await client(stub, .follow(limit: limit)).send(HTTPRequest("https://h/again")) }
        #expect(error?.code == .tooManyRedirects && error?.response?.status == 302 && error?.response?.body.text == "last")
        #expect(error?.request?.urlText == "https://h/again")
        #expect(stub.requests.count == limit + 1)
    }

    @Test("as many redirects as the limit are followed")
    func withinLimit() async throws {
        let stub = StubTransport(
            sequence: (1...3).map { .respond(302, headers: ["Location": "/\($0)"]) } + [.respond(.ok)])
        #expect(try await client(stub, .follow(limit: 3)).send(HTTPRequest("https://h/")).status == .ok)
        #expect(stub.requests.map(\.urlText) == ["https://h/", "https://h/1", "https://h/2", "https://h/3"])
    }

    @Test("refuse takes the redirect as the response, and a request's policy wins over the client's")
    func refuse() async throws {
        let stub = redirecting(302, to: "/new")
        #expect(try await client(stub, .refuse).send(HTTPRequest("https://h/")).status == 302)
        var request = HTTPRequest("https://h/")
        request.redirects = .refuse
        let other = redirecting(302, to: "/new")
        #expect(try await client(other).send(request).status == 302 && other.requests.count == 1)
    }

    @Test(
        "E1 followWithOriginalHeaders repeats method, headers and body within the origin, and only there",
        arguments: [301, 302, 303])
    func originalHeaders(code: Int) async throws {
        let request = HTTPRequest(.post, "https://h/", headers: ["Content-Type": "x/y"], body: .text("body"))
        let within = redirecting(HTTPStatus(code), to: "/new")
        _ = try await client(within, .followWithOriginalHeaders()).send(request)
        #expect(within.requests.last?.method == .post && within.requests.last?.body.text == "body")
        #expect(within.requests.last?.headers[.contentType] == "x/y")
        let beyond = redirecting(HTTPStatus(code), to: "https://other/new")
        _ = try await client(beyond, .followWithOriginalHeaders()).send(request)
        #expect(beyond.requests.last?.method == .get && beyond.requests.last?.headers.isEmpty == true)
    }

    @Test("a closure is asked about each redirect: what to send next, or nothing")
    func custom() async throws {
        let stub = redirecting(302, to: "/new")
        let policy = RedirectPolicy.custom { request, response in
            #expect(request.urlText == "https://h/new" && response.status == 302)
            var request = request
            request.headers["X-Asked"] = "1"
            return request
        }
        #expect(try await client(stub, policy).send(HTTPRequest("https://h/")).status == .ok)
        #expect(stub.requests.last?.headers["X-Asked"] == "1")
        let refused = redirecting(302, to: "/new")
        #expect(try await client(refused, .custom { _, _ in nil }).send(HTTPRequest("https://h/")).status == 302)
        let endless = StubTransport(status: 302, headers: ["Location": "/"])
        let limited = RedirectPolicy.custom(limit: 2) { request, _ in request }
        #expect(await httpError { try await client(endless, limited).send(HTTPRequest("https://h/")) }?.code == .tooManyRedirects)
    }

    @Test("a closure's throw reaches the caller as it is, and closes the redirect")
    func customThrows() async {
        let arriving = ArrivingBody()
        let stub = StubTransport(status: 302, headers: ["Location": "/"], body: .incoming(arriving))
        let policy = RedirectPolicy.custom { _, _ in throw Failure("policy") }
        await #expect(throws: Failure("policy")) { try await client(stub, policy).stream(HTTPRequest("https://h/")) }
        #expect(arriving.closings > 0)
    }

    @Test("a closure's error that tells of the redirect has its body, and one that tells of another response closes it")
    func customThrowsResponse() async {
        let bodies = [ArrivingBody(), ArrivingBody()]
        for (body, isOther) in zip(bodies, [false, true]) {
            let stub = StubTransport(status: 301, headers: ["Location": "/"], body: .incoming(body))
            let policy = RedirectPolicy.custom { next, response in
                let told = isOther ? HTTPResponse(status: .notFound, body: .text("other"), request: next) : response
                throw HTTPError(.validation, "not there", request: next, response: told)
            }
            let error = await httpError { try await client(stub, policy).stream(HTTPRequest("https://h/")) }
            #expect(error?.message == "not there" && error?.bodyShortfall == nil)
            #expect(error?.response?.body.text == (isOther ? "other" : "hello"))
        }
        #expect(bodies[1].closings > 0)
    }

    @Test("a closure may give a request of its own, which stays part of the call")
    func customOwnRequest() async throws {
        let stub = StubTransport { request in
            if request.urlText == "https://h/" {
                return HTTPResponse(status: 302, headers: ["Location": "/new"], request: request)
            }
            return HTTPResponse(status: .ok, body: .stream { chunks("a") }, request: request)
        }
        let policy = RedirectPolicy.custom { _, _ in HTTPRequest("https://other/login") }
        let response = try await client(stub, policy).send(HTTPRequest("https://h/"))
        #expect(stub.requests.last?.urlText == "https://other/login" && response.body.text == "a")
        #expect(
            response.trace.spans.first?.children.first?.children.map(\.request) == ["GET https://h/", "GET https://other/login"])
    }

    @Test("a closure's own request has the call's settings that it doesn't set, and none of the other message's")
    func settingsOfOwnRequest() async throws {
        let policy = RedirectPolicy.custom { _, _ in
            var own = HTTPRequest("https://h/login")
            own.maxRetries = 1
            return own
        }
        let id = 1
        var request = HTTPRequest(.post, "https://h/\(id)")
        request.decoder = JSONDecoder()
        request.deadlineCoversBody = true
        request.maxRetries = 2
        request.allowsUnsafeRetry = true
        let sent = try await client(redirecting(302, to: "/new"), policy).send(request).request
        #expect(sent.decoder is JSONDecoder && sent.deadlineCoversBody == true && sent.maxRetries == 1)
        #expect(request.route != nil && sent.route == nil && !sent.allowsUnsafeRetry)
    }

    @Test("a closure's own request can be compared with others, so that its answer may be shared")
    func comparableRequest() async throws {
        let policy = RedirectPolicy.custom { _, _ in HTTPRequest("https://h/login") }
        let sent = try await client(redirecting(302, to: "/new"), policy).send(HTTPRequest("https://h/")).request
        #expect(sent.urlText == "https://h/login" && sent.context.isComparable)
    }

    @Test("a body that can be read once isn't sent to where a 307 points")
    func onceBody() async {
        let stub = StubTransport { request in
            _ = try await request.body.collect()
            return HTTPResponse(status: 307, headers: ["Location": "/new"], request: request)
        }
        let request = HTTPRequest(.post, "https://h/", body: .once(chunks("a")))
        let error = await httpError { try await client(stub).send(request) }
        #expect(error?.code == .bodyNotReplayable && stub.requests.count == 1)
    }

    @Test("a redirect is followed whatever is wrong with its body, and fails by it when it isn't", arguments: [true, false])
    func brokenBody(isFollowed: Bool) async throws {
        let broken = HTTPBody.incoming(next: { throw HTTPError(.decoding, phase: .answered) }, close: {})
        let stub = StubTransport(sequence: [
            .respond(302, headers: ["Location": "/new"], body: broken),
            .respond(.ok),
        ])
        var request = HTTPRequest("https://h/")
        if !isFollowed { request.redirects = .refuse }
        let client = testClient(transport: stub)
        if isFollowed {
            #expect(try await client.send(request).status == .ok)
        } else {
            #expect(await httpError { try await client.send(request) }?.code == .decoding)
        }
    }

    @Test("the redirect's body is closed, and each hop passes the exchange stage once, the attempt stage not again")
    func hops() async throws {
        let arriving = ArrivingBody()
        let steps = Steps()
        let stub = StubTransport(sequence: [
            .respond(302, headers: ["Location": "/new"], body: .incoming(arriving)), .respond(.ok),
        ])
        let client = testClient(transport: stub) {
            ClosureRequestInterceptor { _ in steps.note("attempt") }
            ClosureRequestInterceptor(stage: .exchange) { steps.note("exchange \($0.attempt)") }
        }
        let request = HTTPRequest("https://h/")
        let response = try await client.stream(request)
        #expect(steps.all == ["attempt", "exchange 1", "exchange 1"])
        #expect(arriving.closings > 0 && response.request.id == request.id)
        #expect(response.trace.description.contains("followed 302 to https://h/new"))
    }
}
