import Foundation
import Interception
import MidstreamCookies
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("Cookies in the pipeline", .leavesNothing, .timeLimit(.minutes(10)))
struct CookieInterceptorTests {
    private let url = "https://a.example/x"

    /// Answers in turn, and says what it was sent.
    private func client(
        _ stub: StubTransport, _ jar: CookieJar, retries: Int = 0, _ more: any HTTPInterceptor...
    ) -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        configuration.maxRetries = retries
        configuration.validators = [DefaultValidator(retriableStatus: [.serviceUnavailable: .immediate])]
        return testClient(configuration: configuration, transport: stub) {
            CookieInterceptor(jar)
            more
        }
    }

    private func sent(_ stub: StubTransport) -> [[String]] { stub.requests.map { $0.headers.values(.cookie) } }

    private func jar(_ pairs: (String, String)...) throws -> CookieJar {
        CookieJar(try pairs.map { try Cookie($0.0, $0.1, domain: "a.example") })
    }

    @Test("A response under way brings nothing back into a jar that was emptied meanwhile; the next one does")
    func emptiedMeanwhile() async throws {
        let jar = try jar(("sid", "1"))
        let stub = StubTransport { request in
            if request.urlText.hasSuffix("/x") { jar.removeAll() }
            return HTTPResponse(status: .ok, headers: [.setCookie: "sid=2"], request: request)
        }
        let client = client(stub, jar)
        _ = try await client.send(HTTPRequest(url))
        #expect(jar.cookies.isEmpty)
        _ = try await client.send(HTTPRequest("https://a.example/y"))
        #expect(jar.cookies.map(\.value) == ["2"])
        #expect(sent(stub) == [["sid=1"], []])
    }

    @Test("what one response sets, the next request brings")
    func storesAndSends() async throws {
        var headers: HTTPHeaders = ["Set-Cookie": "a=1; Expires=Fri, 31 Dec 9999 23:59:59 GMT"]
        headers.add(.setCookie, "b=2, c=3")
        let stub = StubTransport(sequence: [.respond(.ok, headers: headers), .respond(.ok), .respond(.ok)])
        let client = client(stub, CookieJar())
        for url in [url, url, "https://b.example/x"] { _ = try await client.send(HTTPRequest(url)) }
        #expect(sent(stub) == [[], ["a=1; b=2, c=3"], []])
    }

    @Test(
        "one ends by the server's clock, where the response tells a time that can be right",
        arguments: [
            ("Tue, 14 Nov 2023 22:13:20 GMT", nil, "Tue, 14 Nov 2023 22:43:20 GMT", 1_800),
            ("Tue, 14 Nov 2023 22:13:20 GMT", "600", "Tue, 14 Nov 2023 22:43:20 GMT", 1_200),
            // Who stands before a cache has written the date.
            ("Wed, 15 Nov 2023 00:13:20 GMT", "3600", "Wed, 15 Nov 2023 00:43:20 GMT", 1_800),
            ("Wed, 15 Nov 2023 02:13:20 GMT", nil, "Wed, 15 Nov 2023 02:12:20 GMT", nil),
            ("Tue, 14 Nov 2023 22:13:20 GMT", nil, "Thu, 01 Jan 1970 00:00:00 GMT", nil),
            (nil, nil, "Tue, 14 Nov 2023 22:43:20 GMT", nil),
            ("Mon, 01 Jan 1601 00:00:00 GMT", nil, "Thu, 01 Jan 1970 00:00:00 GMT", nil),
            ("Fri, 31 Dec 9999 23:59:59 GMT", nil, "Wed, 15 Nov 2023 22:13:20 GMT", 79_200),
            ("soon", nil, "Wed, 15 Nov 2023 22:13:20 GMT", 79_200),
        ] as [(String?, String?, String, TimeInterval?)])
    func serverClock(date: String?, age: String?, end: String, life: TimeInterval?) async throws {
        // Two hours after the first date.
        let now = Date(timeIntervalSince1970: 1_700_007_200)
        let jar = CookieJar(now: { now })
        var headers: HTTPHeaders = ["Set-Cookie": "a=1; Expires=\(end)"]
        headers[.date] = date
        headers[.age] = age
        _ = try await client(StubTransport(status: .ok, headers: headers), jar).send(HTTPRequest(url))
        #expect(jar.cookies.first?.expires?.timeIntervalSince(now) == life)
    }

    @Test("those of an answer that somebody's interceptor further in gives up are kept, and come with the request that follows")
    func givenUp() async throws {
        let jar = try jar(("sid", "1"))
        let stub = StubTransport(sequence: [.respond(.unauthorized, headers: [.setCookie: "sid=2"]), .respond(.ok)])
        let response = try await client(stub, jar, AnsweredChallenge()).send(HTTPRequest(url, headers: ["Cookie": "own=1"]))
        #expect(response.status == .ok)
        #expect(sent(stub) == [["own=1; sid=1"], ["own=1; sid=2"]])
        #expect(jar.cookies.map(\.value) == ["2"])
    }

    @Test("whoever gives answers up, and how often, those that an interceptor further in has added stay")
    func givenUpFurtherIn() async throws {
        let answers = ["2", "3"].map { StubTransport.Reply.respond(.unauthorized, headers: [.setCookie: "sid=\($0)"]) }
        let stub = StubTransport(sequence: answers + [.respond(.ok)])
        let device = ClosureRequestInterceptor(stage: .exchange) { $0.headers.add(.cookie, "device=7") }
        let client = client(stub, try jar(("sid", "1")), device, AnsweredChallenge(times: 2))
        #expect(try await client.send(HTTPRequest(url)).status == .ok)
        #expect(sent(stub) == [["sid=1", "device=7"], ["device=7; sid=2"], ["device=7; sid=3"]])
    }

    @Test("those that another client is given stay with it, though the request has been sent by this one before")
    func givenUpElsewhere() async throws {
        let (alice, bob) = (CookieJar(), CookieJar())
        var request = try await client(StubTransport(status: 200), alice, AnsweredChallenge()).send(HTTPRequest(url)).request
        let stub = StubTransport(sequence: [.respond(.unauthorized, headers: [.setCookie: "sid=bob"]), .respond(.ok)])
        request = try await client(stub, bob, AnsweredChallenge()).send(request).request
        #expect(alice.cookies.isEmpty && bob.cookies.map(\.value) == ["bob"])
    }

    @Test("the caller's own header doesn't come back where a redirect to another origin has dropped it, at the attempt either")
    func challengedHop() async throws {
        let stub = StubTransport { request in
            guard request.urlText == "https://b.example/" else {
                return HTTPResponse(status: .found, headers: [.location: "https://b.example/"], request: request)
            }
            let isAnswer = request.headers[.authorization] == "answer"
            return HTTPResponse(status: isAnswer ? .ok : .unauthorized, request: request)
        }
        let client = testClient(transport: stub) {
            CookieInterceptor().at(.attempt)
            AnsweredChallenge()
        }
        #expect(try await client.send(HTTPRequest(url, headers: ["Cookie": "own=1"])).status == .ok)
        #expect(sent(stub) == [["own=1"], [], []])
    }

    @Test("any status may set one", arguments: [200, 204, 304, 401, 404, 500])
    func anyStatus(code: Int) async throws {
        let jar = CookieJar()
        let stub = StubTransport(status: HTTPStatus(code), headers: ["Set-Cookie": "a=1"])
        _ = try? await client(stub, jar).send(HTTPRequest(url))
        #expect(jar.cookies.map(\.name) == ["a"])
    }

    @Test("the caller's own pairs win, and stand first")
    func callersHeader() async throws {
        let stub = StubTransport(status: .ok)
        let client = client(stub, try jar(("a", "jar"), ("b", "jar"), ("C", "jar")))
        var request = HTTPRequest(url, headers: ["Cookie": " b=own;c=own ; flag; "])
        _ = try await client.send(request)
        request.headers.add(.cookie, "a=own=1")
        _ = try await client.send(request)
        request.headers.add(.cookie, "C=own")
        _ = try await client.send(request)
        #expect(
            sent(stub) == [
                ["b=own; c=own; flag; a=jar; C=jar"], ["b=own; c=own; flag; a=own=1; C=jar"],
                ["b=own;c=own ; flag;", "a=own=1", "C=own"],
            ])
    }

    @Test("a header of the caller that can't be sent stays an error")
    func refusedHeader() async throws {
        let stub = StubTransport(status: .ok)
        let client = client(stub, try jar(("a", "1")))
        let error = await #expect(throws: HTTPError.self) {
            try await client.send(HTTPRequest(url, headers: ["Cookie": "x=1\r\nX-Evil: 1"]))
        }
        #expect(error?.code == .invalidRequest && stub.requests.isEmpty)
    }

    @Test("each hop of a redirect gets its own, and may set more")
    func redirects() async throws {
        let stub = StubTransport { request in
            let (status, location, cookie) =
                switch request.urlText {
                case "https://a.example/start": (302, "/next", "hop=1")
                case "https://a.example/next": (307, "https://b.example/", "hop=2; Path=/")
                case "https://b.example/": (303, "https://a.example/end", "b=1")
                default: (200, "", "end=1")
                }
            return HTTPResponse(
                status: HTTPStatus(status), headers: ["Location": location, "Set-Cookie": cookie], request: request)
        }
        let jar = try jar(("sid", "1"))
        jar.set(try Cookie("there", "1", domain: "b.example"))
        let response = try await client(stub, jar).send(HTTPRequest("https://a.example/start", headers: ["Cookie": "own=1"]))
        #expect(response.status == .ok)
        #expect(sent(stub) == [["own=1; sid=1"], ["own=1; sid=1; hop=1"], ["there=1"], ["sid=1; hop=2"]])
        #expect(jar.cookies.map(\.name) == ["sid", "there", "hop", "b", "end"])
    }

    @Test("a retried request brings each once, and those of the failed answer")
    func retries() async throws {
        let stub = StubTransport(sequence: [
            .respond(.serviceUnavailable, headers: ["Set-Cookie": "node=2"]),
            .respond(.serviceUnavailable, headers: ["Set-Cookie": "node=3"]), .respond(.ok),
        ])
        let client = client(stub, try jar(("sid", "1")), retries: 2)
        _ = try await client.send(HTTPRequest(url, headers: ["Cookie": "own=1"]))
        #expect(sent(stub) == [["own=1; sid=1"], ["own=1; sid=1; node=2"], ["own=1; sid=1; node=3"]])
    }

    @Test("a request without cookies isn't touched")
    func nothing() async throws {
        let stub = StubTransport(status: .ok)
        _ = try await client(stub, CookieJar()).send(HTTPRequest(url, headers: ["Cookie": "a=1;b=2"]))
        #expect(sent(stub) == [["a=1;b=2"]])
    }

    @Test("Set-Cookie belongs to the host that was asked in the end")
    func sentElsewhere() async throws {
        let elsewhere = ClosureRequestInterceptor { $0.urlText = "https://b.example/" }
        let jar = CookieJar()
        let stub = StubTransport(status: .ok, headers: ["Set-Cookie": "a=1"])
        _ = try await client(stub, jar, elsewhere.at(.exchange)).send(HTTPRequest(url))
        #expect(jar.cookies.map(\.domain) == ["b.example"])
    }

    @Test("an explanation names them, and uses none")
    func explanation() async throws {
        let jar = try jar(("sid", "s3cret"), ("theme", "s3cret"), ("own", "s3cret"))
        let client = client(StubTransport(status: .ok), jar)
        let explanation = try await client.explain(HTTPRequest(url, headers: ["Cookie": "own=s3cret"]))
        let step = try #require(explanation.steps.first { $0.name == "CookieInterceptor" })
        #expect(step.stage == .exchange && step.plan.text == "adds sid, theme")
        #expect(step.changes == ["~ Cookie: ‹withheld›"])
        #expect(explanation.request.headers[.cookie] == "own=s3cret; sid=s3cret; theme=s3cret")
        #expect(!"\(explanation)".contains("s3cret"))
        let other = try await client.explain(HTTPRequest("https://b.example/"))
        #expect(other.steps.first { $0.name == "CookieInterceptor" }?.plan.text == "no cookies for this URL")
    }

    @Test("the trace names what was stored and what wasn't, and why")
    func trace() async throws {
        var headers: HTTPHeaders = ["Set-Cookie": "a=s3cret; Path=/"]
        for line in ["b=s3cret; Domain=other.example", "old=s3cret; Max-Age=0", "s3cret"] { headers.add(.setCookie, line) }
        let stub = StubTransport(status: .ok, headers: headers)
        let response = try await client(stub, try jar(("sid", "s3cret"))).send(HTTPRequest(url))
        #expect(
            response.trace.allSpans.flatMap(\.notes) == [
                "stored a, ignored b: its Domain isn't its host's, removed old, ignored a cookie: it has no name"
            ])
        #expect(!"\(response.trace) \(response) \(response.request)".contains("s3cret"))
        var dumped = ""
        dump(response, to: &dumped)
        #expect(!dumped.contains("s3cret"))
    }

    @Test("of a response with any number of cookies the first 150 are looked at")
    func flood() async throws {
        var headers = HTTPHeaders()
        // The first are removed as soon as they are set, and so take no room.
        for number in 0..<149 { headers.add(.setCookie, "c\(number)=1; Max-Age=0") }
        for number in 149..<1_000 { headers.add(.setCookie, "c\(number)=1") }
        let jar = CookieJar()
        let response = try await client(StubTransport(status: .ok, headers: headers), jar).send(HTTPRequest(url))
        #expect(jar.cookies.map(\.name) == ["c149"])
        #expect("\(response.trace)".contains("stored c149, ignored a cookie: there are more than 150 in one response"))
    }

    @Test("errors show no value")
    func errors() async throws {
        let stub = StubTransport(sequence: [
            .respond(.notFound, headers: ["Set-Cookie": "a=s3cret"]), .fail(HTTPError(.connectionLost)),
        ])
        let client = client(stub, try jar(("sid", "s3cret")))
        for _ in 0..<2 {
            let error = await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest(url)) }
            var shown = "\(String(reflecting: error)) \(error?.localizedDescription ?? "")"
            dump(error, to: &shown)
            #expect(!shown.contains("s3cret"))
        }
    }

    @Test("many calls at once, through one jar")
    func concurrency() async throws {
        let jar = CookieJar()
        let stub = StubTransport { request in
            let number = request.urlText.split(separator: "/").last ?? ""
            return HTTPResponse(status: .ok, headers: ["Set-Cookie": "n\(number)=\(number); Path=/"], request: request)
        }
        let client = client(stub, jar)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<200 { group.addTask { _ = try await client.send(HTTPRequest("https://a.example/\(number % 40)")) } }
            try await group.waitForAll()
        }
        #expect(Set(jar.cookies.map { "\($0.name)=\($0.value)" }) == Set((0..<40).map { "n\($0)=\($0)" }))
        for cookies in sent(stub).joined() {
            let names = cookies.components(separatedBy: "; ")
            #expect(Set(names).count == names.count)
        }
    }
}
