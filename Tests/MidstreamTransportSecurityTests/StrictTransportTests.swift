import Foundation
import Interception
import Midstream
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamTransportSecurity

@Suite("Strict transport", .leavesNothing, .timeLimit(.minutes(10)))
struct StrictTransportTests {
    private static let year = "max-age=31536000"

    private func client(
        _ stub: StubTransport, _ store: StrictTransportStore = .init(),
        @PipelineBuilder _ more: () -> [any HTTPInterceptor] = { [] }
    ) -> HTTPClient {
        let others = more()
        return testClient(transport: stub) {
            others
            StrictTransport(store: store)
        }
    }

    private func sent(_ stub: StubTransport) -> [String] { stub.requests.map(\.urlText) }

    @Test("A host that has asked for it by https is spoken to by https")
    func remembers() async throws {
        let stub = StubTransport(status: .ok, headers: ["strict-transport-security": Self.year])
        let client = client(stub)
        for url in [
            "http://a.example/x?y#z", "https://a.example/", "http://A.example./x?y", "http://u@a.example:80",
            "http://a.example:8080/",
        ] {
            _ = try await client.send(HTTPRequest(url))
        }
        #expect(
            sent(stub) == [
                "http://a.example/x?y#z", "https://a.example/", "https://A.example./x?y", "https://a.example:443",
                "https://a.example:8080/",
            ])
        // Neither what is below it nor above it.
        for url in ["http://b.a.example/", "http://example/"] { _ = try await client.send(HTTPRequest(url)) }
        #expect(sent(stub).suffix(2) == ["http://b.a.example/", "http://example/"])
    }

    @Test("A challenge that is answered further in has been heard")
    func challenge() async throws {
        let stub = StubTransport(sequence: [
            .respond(.unauthorized, headers: ["Strict-Transport-Security": Self.year]), .respond(.ok),
        ])
        let store = StrictTransportStore()
        #expect(try await client(stub, store) { AnsweredChallenge() }.send(HTTPRequest("https://a.example/")).status == .ok)
        #expect(store.includes("a.example") && stub.requests.count == 2)
    }

    @Test(
        "The credentials that a host gets by http it gets by https, and they are renewed there",
        arguments: [nil, ["http://a.example"]] as [[String]?])
    func credentials(origins: [String]?) async throws {
        let stub = StubTransport { request in
            let isNew = request.headers[.authorization] == "Bearer new"
            return HTTPResponse(status: isNew ? .ok : .unauthorized, request: request)
        }
        let client = testClient(baseURL: "http://a.example", transport: stub) {
            AuthenticationInterceptor(BearerAuthenticator { rejected in rejected == nil ? "old" : "new" }, origins: origins)
            APIKeyInterceptor("k", header: "X-Key")
            StrictTransport(store: StrictTransportStore([StrictTransportHost("a.example")]))
        }
        #expect(try await client.send(HTTPRequest("/")).status == .ok)
        #expect(sent(stub) == ["https://a.example/", "https://a.example/"])
        #expect(stub.requests.map { $0.headers["X-Key"] } == ["k", "k"])
    }

    @Test("A host that asks to be left alone is left alone by calls that would go there by http, too")
    func retryAfter() async throws {
        let bench = ArbiterBench()
        let stub = StubTransport(sequence: [.respond(429, headers: ["Retry-After": "30"]), .respond(.ok)])
        let client = bench.client(
            stub, validators: [], { $0.sharesRetryAfter = true },
            interceptors: { StrictTransport(store: StrictTransportStore([StrictTransportHost("a.example")])) })
        #expect(try await client.send(HTTPRequest("http://a.example/")).status == 429)
        let (delays, result) = await bench.waits(1, of: client, HTTPRequest("http://a.example/"))
        #expect(delays == [.seconds(30)])
        #expect(try result.get().status == .ok)
    }

    @Test("Subdomains are included where that is said, and the last word counts")
    func subdomains() async throws {
        let fields = ["\(Self.year); includeSubDomains", Self.year, "max-age=0"]
        let stub = StubTransport(
            sequence: fields.flatMap { [.respond(.notFound, headers: ["Strict-Transport-Security": $0]), .respond(.ok)] })
        let client = client(stub)
        for _ in fields {
            _ = try? await client.send(HTTPRequest("https://a.example/"))
            _ = try await client.send(HTTPRequest("http://c.b.a.example/"))
        }
        #expect(
            sent(stub).filter { $0.contains("c.b") } == [
                "https://c.b.a.example/", "http://c.b.a.example/", "http://c.b.a.example/",
            ])
    }

    @Test("A host's name may be of any script, as in a URL")
    func international() async throws {
        let store = StrictTransportStore([StrictTransportHost("Bücher.example.", includesSubdomains: true)])
        #expect(store.hosts.map(\.name) == ["xn--bcher-kva.example"] && store.includes("bücher.example"))
        let stub = StubTransport(status: .ok)
        _ = try await client(stub, store).send(HTTPRequest("http://a.bücher.example/"))
        #expect(sent(stub) == ["https://a.xn--bcher-kva.example/"])
        store.remove("BÜCHER.example")
        #expect(store.hosts.isEmpty)
    }

    @Test("Its time is over some day")
    func expires() async throws {
        let now = Locked(Date(timeIntervalSince1970: 1_000))
        let store = StrictTransportStore(now: { now.withLock { $0 } })
        let stub = StubTransport(status: .ok, headers: ["Strict-Transport-Security": "max-age=\"10\""])
        let client = client(stub, store)
        _ = try await client.send(HTTPRequest("https://a.example/"))
        #expect(store.hosts == [StrictTransportHost("a.example", expires: Date(timeIntervalSince1970: 1_010))])
        now.withLock { $0 += 9.5 }
        #expect(store.includes("a.example"))
        now.withLock { $0 += 1 }
        #expect(!store.includes("a.example"))
        #expect(store.hosts.isEmpty)
    }

    @Test(
        "What comes by http, or from an address, is ignored",
        arguments: [
            "http://a.example/", "https://127.0.0.1/", "https://[::1]/", "https://0x7f.1/", "https://127.0.0.1./",
            "https://2130706433/", "https://localhost:8443/", "https://A.localhost./",
        ])
    func ignored(url: String) async throws {
        let store = StrictTransportStore()
        let stub = StubTransport(status: .ok, headers: ["Strict-Transport-Security": Self.year])
        _ = try await client(stub, store).send(HTTPRequest(url))
        #expect(store.hosts.isEmpty)
        store.set(StrictTransportHost("127.0.0.1"))
        store.set(StrictTransportHost("localhost"))
        #expect(store.hosts.isEmpty && !store.includes("127.0.0.1") && !store.includes("a.localhost"))
    }

    @Test("Of several fields the first counts, and a stored answer says nothing new")
    func first() async throws {
        let store = StrictTransportStore()
        var headers: HTTPHeaders = ["Strict-Transport-Security": "nothing", "Cache-Control": "max-age=60"]
        headers.add("Strict-Transport-Security", Self.year)
        let stub = StubTransport(status: .ok, headers: headers)
        let response = try await client(stub, store).send(HTTPRequest("https://a.example/"))
        #expect(store.hosts.isEmpty)
        #expect(response.trace.description.contains("says nothing"))

        let cached = StubTransport(status: .ok, headers: ["Strict-Transport-Security": Self.year, "Cache-Control": "max-age=60"])
        let client = client(cached, store) { CacheInterceptor() }
        _ = try await client.send(HTTPRequest("https://a.example/"))
        store.remove("A.example")
        _ = try await client.send(HTTPRequest("https://a.example/"))
        #expect(cached.requests.count == 1)
        #expect(store.hosts.isEmpty)
    }

    @Test("Of several fields that were joined the first counts, and a comma within quotation marks joins nothing")
    func joined() async throws {
        let store = StrictTransportStore()
        for (host, field) in [
            ("a", "max-age=60, max-age=0; includeSubDomains"), ("b", "max-age=60; x=\"a,b\"; includeSubDomains"),
            ("c", "x, max-age=60"),
        ] {
            let stub = StubTransport(status: .ok, headers: ["Strict-Transport-Security": "\(field)"])
            _ = try await client(stub, store).send(HTTPRequest("https://\(host).example/"))
        }
        #expect(store.includes("a.example") && !store.includes("x.a.example"))
        #expect(store.includes("x.b.example") && !store.includes("c.example"))
    }

    @Test(
        "What confirms a stored answer, or fails so that it stands in, is heeded, and what was stored isn't",
        arguments: [(HTTPStatus.notModified, false), (.notModified, true), (.serviceUnavailable, true)])
    func confirmed(status: HTTPStatus, isNew: Bool) async throws {
        let store = StrictTransportStore()
        let stub = StubTransport { request in
            let isAsked = request.headers["If-None-Match"] != nil
            var headers: HTTPHeaders = ["Cache-Control": "max-age=0, stale-if-error=60", "ETag": "\"a\""]
            if isAsked == isNew { headers["Strict-Transport-Security"] = Self.year }
            if isAsked, !isNew { headers["Set-Cookie"] = "a=1" }
            return HTTPResponse(status: isAsked ? status : .ok, headers: headers, request: request)
        }
        let client = client(stub, store) { CacheInterceptor() }
        _ = try await client.send(HTTPRequest("https://a.example/"))
        store.remove("a.example")
        _ = try await client.send(HTTPRequest("https://a.example/"))
        #expect(stub.requests.map { $0.headers["If-None-Match"] } == [nil, "\"a\""])
        #expect(store.includes("a.example") == isNew)
    }

    @Test("Each hop of a redirect is looked at, and its plan is shown")
    func redirects() async throws {
        let store = StrictTransportStore([StrictTransportHost("B.example.")])
        let stub = StubTransport(sequence: [.respond(.found, headers: [.location: "http://b.example/next"]), .respond(.ok)])
        let client = client(stub, store)
        let response = try await client.send(HTTPRequest("http://a.example/"))
        #expect(sent(stub) == ["http://a.example/", "https://b.example/next"])
        #expect(response.request.urlText == "https://b.example/next")
        #expect(response.trace.description.contains("by https"))
        let explanation = try await client.explain(HTTPRequest("http://b.example/"))
        #expect("\(explanation)".contains("https://b.example/"))
    }

    @Test("A server that sends clients back to http, and was asked by it, runs into the limit")
    func circle() async throws {
        let stub = StubTransport(status: .found, headers: [.location: "http://a.example/"])
        let client = client(stub, StrictTransportStore([StrictTransportHost("a.example")]))
        let error = await #expect(throws: HTTPError.self) { _ = try await client.send(HTTPRequest("http://a.example/")) }
        #expect(error?.code == .tooManyRedirects)
        #expect(Set(sent(stub)) == ["https://a.example/"])
    }

    @Test("A redirect from https back to http is the response, and where it may be followed it is by https")
    func downgrade() async throws {
        let stub = StubTransport { request in
            let isNew = request.urlText.hasSuffix("/new")
            return HTTPResponse(status: isNew ? .ok : .found, headers: [.location: "http://a.example/new"], request: request)
        }
        let client = client(stub, StrictTransportStore([StrictTransportHost("a.example")]))
        var request = HTTPRequest("https://a.example/")
        #expect(try await client.send(request).status == .found)
        request.redirects = .follow(allowsDowngrade: true)
        #expect(try await client.send(request).status == .ok)
        #expect(sent(stub) == ["https://a.example/", "https://a.example/", "https://a.example/new"])
    }

    @Test("Cookies and caches go by https")
    func others() async throws {
        let jar = CookieJar([try Cookie("sid", "1", domain: "a.example", isSecure: true)])
        let stub = StubTransport(status: .ok, headers: ["Cache-Control": "max-age=60"])
        let store = StrictTransportStore([StrictTransportHost("a.example")])
        let client = client(stub, store) {
            CookieInterceptor(jar)
            CacheInterceptor()
        }
        for url in ["http://a.example/", "https://a.example/"] { _ = try await client.send(HTTPRequest(url)) }
        #expect(sent(stub) == ["https://a.example/"])
        #expect(stub.requests.first?.headers[.cookie] == "sid=1")
    }

    @Test(
        "The names of one domain displace each other, and no hosts that never expire",
        arguments: ["evil.example", "evil.co.example"])
    func crowd(domain: String) throws {
        let base = Date(timeIntervalSince1970: 0)
        let own = (1...600).map { StrictTransportHost("h\($0).own.example") }
        let store = StrictTransportStore(own, now: { base })
        let year = try #require(StrictTransportPolicy(Self.year))
        let century = try #require(StrictTransportPolicy("max-age=3155760000"))
        let others = ["bank.example", "bank.co.example", "shop.co.example"]
        for host in others { store.take(year, from: host) }
        for number in 1...450 { store.take(century, from: "n\(number).\(domain)") }
        #expect(store.hosts.count == StrictTransportStore.capacity)
        for host in own.map(\.name) + others + ["n450.\(domain)"] { #expect(store.includes(host), "\(host)") }
    }

    @Test("A thousand hosts that never expire are kept, and nothing displaces them")
    func endless() {
        let base = Date(timeIntervalSince1970: 0)
        let store = StrictTransportStore((1...1_000).map { StrictTransportHost("h\($0).example") }, now: { base })
        store.set(StrictTransportHost("other.example", expires: base + 86_400))
        #expect(store.hosts.count == 1_000 && !store.includes("other.example"))
    }

    @Test("A thousand hosts are kept, those the longest that expire last")
    func capacity() {
        let base = Date(timeIntervalSince1970: 0)
        let store = StrictTransportStore(now: { base })
        for number in 1...1_005 { store.set(StrictTransportHost("h\(number).example", expires: base + Double(number))) }
        #expect(store.hosts.count == StrictTransportStore.capacity)
        #expect(!store.includes("h5.example") && store.includes("h6.example"))
        store.set(StrictTransportHost("h6.example", expires: base + 5_000))
        #expect(store.hosts.count == 1_000 && store.includes("h7.example"))
    }

    @Test(
        "A field that breaks the grammar says nothing",
        arguments: [
            "", ";", "includeSubDomains", "max-age", "max-age=", "max-age=x", "max-age=-1", "max-age=1.5", "max-age=\"1",
            "max-age=1; max-age=2",
            "max-age=1; includeSubDomains; includesubdomains", "max-age=1, max-age=2", "max-age=1 includeSubDomains",
            "max-age=1; includeSubDomains=1",
            "max-age=1; =x", "max-age=1; a=\"b", "max-age=1;(", "max-age=\"\\",
        ])
    func broken(field: String) { #expect(StrictTransportPolicy(field) == nil) }

    @Test("Other fields are read")
    func grammar() {
        for (field, age, includes) in [
            ("max-age=0", 0 as Int64, false), ("MAX-AGE=1", 1, false), (" ; max-age = 5 ;; IncludeSubDomains ; preload", 5, true),
            ("includeSubDomains;max-age=\"7\";x=\"a;b\\\"\"", 7, true),
            ("max-age=99999999999999999999999", 36_525 * 86_400, false),
        ] {
            let policy = StrictTransportPolicy(field)
            #expect(policy?.maximumAge == age && policy?.includesSubdomains == includes, "\(field)")
        }
    }

    @Test("Hosts can be kept until the next start")
    func coding() throws {
        let store = StrictTransportStore([StrictTransportHost("a.example", includesSubdomains: true)])
        let data = try JSONEncoder().encode(store.hosts)
        let other = StrictTransportStore(try JSONDecoder().decode([StrictTransportHost].self, from: data))
        #expect(other.includes("b.a.example") && !other.includes("ba.example"))
    }
}
