import Interception
import Midstream
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamSigning

@Suite(.leavesNothing, .timeLimit(.minutes(10))) struct DigestInterceptorTests {
    private func client(_ server: DigestServer, password: String = "Circle of Life", origins: [String]? = nil) -> HTTPClient {
        testClient(baseURL: server.server.url()) {
            DigestInterceptor(user: "Mufasa", password: password, origins: origins)
        }
    }

    @Test(arguments: [("SHA-256", HashFunction.sha256), ("MD5", .md5)])
    func oneChallengeServesManyRequestsWhoseCountGoesUp(algorithm: String, function: HashFunction) async throws {
        let server = try DigestServer(algorithm: algorithm, function: function)
        let client = client(server)
        for number in 1...3 {
            let response = try await client.send(HTTPRequest(.post, "/a%20b?x=\(number)&y", body: .text("you")))
            #expect(response.body.bytes == Array("hello you".utf8))
        }
        #expect(server.challenges == 1)
        #expect(server.server.requestCount == 4)
    }

    @Test func concurrentRequestsUseEachCountOnce() async throws {
        let server = try DigestServer()
        let client = client(server)
        _ = try await client.send(HTTPRequest("/"))
        try await withThrowingTaskGroup(of: HTTPStatus.self) { group in
            for number in 0..<100 { group.addTask { try await client.send(HTTPRequest("/\(number)")).status } }
            for try await status in group { #expect(status == .ok) }
        }
        #expect(server.challenges == 1)
    }

    @Test func realmsOfOneOriginAreKeptApartThoughTheyShareANonce() async throws {
        let server = try DigestServer()
        server.state.withLock { $0.realms = ["/users": "users", "/admin": "admin", "/users/1": "users", "/admin/1": "admin"] }
        let client = client(server)
        for path in ["/users", "/admin"] { #expect(try await client.send(HTTPRequest(path)).status == .ok) }
        #expect(server.challenges == 2)
        // From now on each is answered with its own, one behind the other.
        for path in ["/users", "/admin", "/users/1", "/admin/1", "/admin", "/users"] {
            #expect(try await client.send(HTTPRequest(path)).status == .ok)
        }
        #expect(server.challenges == 2)
        server.expireNonce()
        for path in ["/users", "/admin"] { #expect(try await client.send(HTTPRequest(path)).status == .ok) }
        #expect(server.challenges == 4)
        let wrong = self.client(server, password: "wrong")
        for path in ["/users", "/admin", "/users"] {
            #expect(await httpError { try await wrong.send(HTTPRequest(path)) }?.response?.status == .unauthorized)
        }
    }

    @Test func cookiesOfAChallengeAreKeptAndComeWithItsAnswer() async throws {
        let challenge = #"Digest realm="r", nonce="n", qop="auth", algorithm=SHA-256"#
        let stub = StubTransport(sequence: [
            .respond(.unauthorized, headers: [.wwwAuthenticate: challenge, .setCookie: "sid=2"]), .respond(.ok),
        ])
        let jar = CookieJar()
        jar.set(try Cookie("sid", "1", domain: "a.example"))
        let client = testClient(transport: stub) {
            CookieInterceptor(jar)
            DigestInterceptor(user: "Mufasa", password: "Circle of Life")
        }
        let response = try await client.send(HTTPRequest("https://a.example/", headers: ["Cookie": "own=1"]))
        #expect(response.status == .ok)
        #expect(stub.requests.map { $0.headers[.cookie] } == ["own=1; sid=1", "own=1; sid=2"])
        #expect(jar.cookies.map(\.value) == ["2"])
        #expect("\(response.trace)".contains("stored sid"))
    }

    @Test func aStaleNonceIsReplaced() async throws {
        let server = try DigestServer()
        let client = client(server)
        _ = try await client.send(HTTPRequest("/"))
        server.expireNonce()
        #expect(try await client.send(HTTPRequest("/")).status == .ok)
        #expect(server.challenges == 2)
    }

    @Test func theNextNonceIsUsedBeforeItIsAskedFor() async throws {
        let server = try DigestServer()
        server.state.withLock { $0.nextNonce = true }
        let client = client(server)
        for _ in 0..<3 { #expect(try await client.send(HTTPRequest("/")).status == .ok) }
        #expect(server.challenges == 1)
    }

    @Test func aSessionStaysBoundToTheNoncesOfItsFirstAnswer() async throws {
        let challenge = #"Digest realm="r", nonce="n1", qop=auth, algorithm=MD5-sess"#
        let stub = StubTransport(sequence: [
            .respond(.unauthorized, headers: [.wwwAuthenticate: challenge]),
            .respond(.ok), .respond(.ok, headers: ["Authentication-Info": #"nextnonce="n2""#]), .respond(.ok),
        ])
        let clientNonces = Locked(["c1", "c2"])
        let client = testClient(transport: stub) {
            DigestInterceptor(
                user: "Mufasa", password: "Circle of Life", clientNonce: { clientNonces.withLock { $0.removeFirst() } })
        }
        for _ in 0..<3 { _ = try await client.send(HTTPRequest("https://a.example/")) }
        let hash = HashFunction.md5.hexadecimal
        let user = try hash("\(try hash("Mufasa:r:Circle of Life")):n1:c1")
        let target = try hash("GET:/")
        let expected = try ["n1:00000001:c1", "n1:00000002:c1", "n2:00000001:c1"].map { try hash("\(user):\($0):auth:\(target)") }
        let answers = stub.requests.compactMap { request in
            let field = request.headers[.authorization] ?? ""
            return AuthenticationChallenge.all(in: ["WWW-Authenticate": field]).first?.parameters["response"]
        }
        #expect(answers == expected)
    }

    /// As Ruby's WEBrick.
    @Test func aSessionBeginsAnewWhereTheServerTakesItsNonceFromEachRequest() async throws {
        func challenge(_ nonce: String) -> HTTPHeaders {
            [.wwwAuthenticate: #"Digest realm="r", nonce="\#(nonce)", qop=auth, algorithm=MD5-sess"#]
        }
        let stub = StubTransport(sequence: [
            .respond(.unauthorized, headers: challenge("n1")),
            .respond(.ok, headers: ["Authentication-Info": #"nextnonce="n2""#]),
            .respond(.unauthorized, headers: challenge("n2")), .respond(.ok),
            .respond(.unauthorized, headers: challenge("n2")),
        ])
        let clientNonces = Locked(["c1", "c2"])
        let client = testClient(configuration: .init(validators: []), transport: stub) {
            DigestInterceptor(
                user: "Mufasa", password: "Circle of Life", clientNonce: { clientNonces.withLock { $0.removeFirst() } })
        }
        for _ in 0..<2 { #expect(try await client.send(HTTPRequest("https://a.example/")).status == .ok) }
        let hash = HashFunction.md5.hexadecimal
        let user = try hash("\(try hash("Mufasa:r:Circle of Life")):n2:c2")
        let expected = try hash("\(user):n2:00000002:c2:auth:\(try hash("GET:/"))")
        #expect(stub.requests.last?.headers[.authorization]?.contains("response=\"\(expected)\"") == true)
        // Refused with a hash of its own nonce, the credentials are wrong.
        #expect(try await client.send(HTTPRequest("https://a.example/")).status == .unauthorized)
        #expect(stub.requests.count == 5)
    }

    @Test func aNonceThatIsUsedUpIsGivenUp() async throws {
        let challenge: HTTPHeaders = [.wwwAuthenticate: #"Digest realm="r", nonce="n", qop="auth", algorithm=SHA-256"#]
        let stub = StubTransport(sequence: [
            .respond(.unauthorized, headers: challenge), .respond(.ok),
            .respond(.unauthorized, headers: challenge), .respond(.ok),
        ])
        let digest = DigestInterceptor(user: "Mufasa", password: "Circle of Life")
        let client = testClient(transport: stub) { digest }
        _ = try await client.send(HTTPRequest("https://a.example/"))
        digest.sessions.withLock { sessions in
            for origin in Array(sessions.keys) { sessions[origin]?[0].count = .max }
        }
        #expect(try await client.send(HTTPRequest("https://a.example/")).status == .ok)
        let isFirstUse = stub.requests.map { $0.headers[.authorization]?.contains("nc=00000001") }
        #expect(isFirstUse == [nil, true, nil, true])
    }

    @Test func aWrongPasswordEndsWithTheResponse() async throws {
        let server = try DigestServer()
        let error = await #expect(throws: HTTPError.self) {
            try await client(server, password: "wrong").send(HTTPRequest("/"))
        }
        #expect(error?.code == .unacceptableStatus)
        #expect(error?.response?.status == .unauthorized)
        #expect(server.server.requestCount == 2)
    }

    @Test func aServerWhoseNoncesNeverLastIsNotAskedForEver() async throws {
        let server = try DigestServer()
        server.state.withLock { $0.isAlwaysStale = true }
        let error = await #expect(throws: HTTPError.self) { try await client(server).send(HTTPRequest("/")) }
        #expect(error?.code == .unacceptableStatus)
        #expect(server.server.requestCount == 3)
    }

    @Test func aRedirectIsAnsweredAnewWithinTheOriginAndNotOutsideIt() async throws {
        let server = try DigestServer()
        let other = try DigestServer()
        server.server.enqueue(.init(status: .found, headers: [.location: "/second"]))
        let client = client(server)
        #expect(try await client.send(HTTPRequest("/")).status == .ok)
        #expect(server.server.requests.map(\.path) == ["/", "/second", "/second"])

        server.server.enqueue(.init(status: .found, headers: [.location: other.server.url("/")]))
        await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest("/")) }
        #expect(other.server.requests.map { $0.headers.contains(.authorization) } == [false])
    }

    @Test(arguments: [(.attempt, [.post, .get]), (.exchange, [.post, .get, .get])] as [(InterceptorStage, [HTTPMethod])])
    func aPostIsNotSentAgainBecauseWhatItsAnswerLedToIsChallenged(stage: InterceptorStage, methods: [HTTPMethod]) async throws {
        let challenge: HTTPHeaders = [.wwwAuthenticate: #"Digest realm="r", nonce="n", qop="auth", algorithm=SHA-256"#]
        let stub = StubTransport { request in
            guard request.urlText.hasSuffix("/orders/7") else {
                return HTTPResponse(status: .seeOther, headers: [.location: "/orders/7"], request: request)
            }
            if request.headers.contains(.authorization) { return HTTPResponse(status: .ok, request: request) }
            return HTTPResponse(status: .unauthorized, headers: challenge, request: request)
        }
        let client = testClient(baseURL: "https://api.example", transport: stub) {
            DigestInterceptor(user: "Mufasa", password: "Circle of Life").at(stage)
        }
        _ = try? await client.send(HTTPRequest(.post, "/orders", body: .text("one")))
        #expect(stub.requests.map(\.method) == methods)
    }

    @Test func atTheAttemptTheChallengeOfAnotherOriginIsNotAnswered() async throws {
        let challenge: HTTPHeaders = [.wwwAuthenticate: #"Digest realm="evil", nonce="n", qop="auth", algorithm=SHA-256"#]
        let stub = StubTransport { request in
            guard request.urlText.hasPrefix("https://b.example/") else {
                return HTTPResponse(status: .temporaryRedirect, headers: [.location: "https://b.example/"], request: request)
            }
            return HTTPResponse(status: .unauthorized, headers: challenge, request: request)
        }
        let digest = DigestInterceptor(user: "Mufasa", password: "Circle of Life")
        let client = testClient(baseURL: "https://a.example", transport: stub) { digest.at(.attempt) }
        let error = await httpError { try await client.send(HTTPRequest(.put, "/a", body: .text("one"))) }
        #expect(error?.response?.status == .unauthorized)
        #expect(stub.requests.map(\.urlText) == ["https://a.example/a", "https://b.example/"])
        #expect(digest.sessions.withLock { $0.isEmpty })
    }

    @Test func noMoreOriginsAreRememberedThanThereIsRoomFor() async throws {
        let challenge: HTTPHeaders = [.wwwAuthenticate: #"Digest realm="r", nonce="n", qop="auth", algorithm=SHA-256"#]
        let stub = StubTransport { request in
            let isAnswered = request.headers.contains(.authorization)
            return HTTPResponse(status: isAnswered ? .ok : .unauthorized, headers: isAnswered ? [:] : challenge, request: request)
        }
        let origins = (0...100).map { "https://h\($0).example" }
        let digest = DigestInterceptor(user: "Mufasa", password: "Circle of Life", origins: origins)
        let client = testClient(transport: stub) { digest }
        for origin in origins {
            #expect(try await client.send(HTTPRequest(origin)).status == .ok)
            #expect(digest.sessions.withLock { 1...100 ~= $0.count })
        }
    }

    @Test func aBodyThatCanBeReadOnceIsSentOnce() async throws {
        let server = try DigestServer()
        let client = client(server)
        let upload = {
            HTTPRequest(
                .put, "/",
                body: .once(
                    AsyncStream {
                        $0.yield([65])
                        $0.finish()
                    }))
        }
        // Its challenge is known to the next one, that of a nonce which has become stale, too.
        for nonce in ["n1", "n2"] {
            let error = await #expect(throws: HTTPError.self) { try await client.send(upload()) }
            #expect(error?.code == .unacceptableStatus)
            #expect(try await client.send(upload()).body.bytes == Array("hello A".utf8))
            #expect(server.state.withLock { $0.used.contains("\(nonce) 00000001") })
            server.expireNonce()
        }
        #expect(server.challenges == 2)
    }

    @Test func aBodyThatCannotBeAnsweredForIsSentWhereNobodyAsks() async throws {
        let challenge: HTTPHeaders = [.wwwAuthenticate: #"Digest realm="r", nonce="n", qop="auth-int", algorithm=SHA-256"#]
        let stub = StubTransport { request in
            let isAsked = request.urlText.hasSuffix("/admin") && !request.headers.contains(.authorization)
            return HTTPResponse(status: isAsked ? .unauthorized : .ok, headers: isAsked ? challenge : [:], request: request)
        }
        let client = testClient(baseURL: "https://api.example", transport: stub) {
            DigestInterceptor(user: "Mufasa", password: "Circle of Life")
        }
        let upload = { @Sendable (path: String) in HTTPRequest(.put, path, body: .stream { chunks("report") }) }
        #expect(try await client.send(HTTPRequest("/admin")).status == .ok)
        #expect(try await client.send(upload("/public")).status == .ok)
        #expect(stub.requests.last?.headers.contains(.authorization) == false)
        #expect(await httpError { try await client.send(upload("/admin")) }?.code == .unsupported)
    }

    @Test func aRequestKeepsItsOwnAuthorization() async throws {
        let server = try DigestServer()
        await #expect(throws: HTTPError.self) {
            try await client(server).send(HTTPRequest("/", headers: [.authorization: "Own"]))
        }
        #expect(server.server.requests.map { $0.headers[.authorization] } == ["Own"])
    }

    @Test func whatAnswersAChallengeHasItAsItsCause() async throws {
        let server = try DigestServer()
        let client = testClient(baseURL: server.server.url(), configuration: .init(keepsCapsules: true)) {
            DigestInterceptor(user: "Mufasa", password: "wrong")
        }
        let error = try #require(await httpError { try await client.send(HTTPRequest("/")) })
        #expect(error.callRecord?.exchanges.map(\.cause) == ["first", "credential"])
        #expect(error.trace?.events(named: "credential").map(\.attributes) == [["action": "answered", "status": 401]])
    }

    @Test func anExplanationUsesUpNoNonceAndNothingSecretIsShown() async throws {
        let server = try DigestServer()
        let client = client(server, password: "Circle of Life")
        #expect("\(try await client.explain(HTTPRequest("/")))".contains("would answer a challenge"))
        let response = try await client.send(HTTPRequest("/"))
        #expect("\(response.trace)".contains("answered a challenge"))
        #expect("\(try await client.explain(HTTPRequest("/")))".contains("would answer the known challenge"))
        #expect(try await client.send(HTTPRequest("/")).request.headers[.authorization]?.contains("nc=00000002") == true)
        var shown = "\(response)\(response.trace)\(String(reflecting: response.request))"
        dump(DigestInterceptor(user: "Mufasa", password: "Circle of Life"), to: &shown)
        #expect(!shown.contains("Circle of Life") && !shown.contains("response="))
    }
}
