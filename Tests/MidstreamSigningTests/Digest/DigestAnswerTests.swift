import MidstreamCore
import TestSupport
import Testing

@testable import MidstreamSigning

@Suite(.leavesNothing) struct DigestAnswerTests {
    private static let challenges: HTTPHeaders = [
        "WWW-Authenticate": """
        Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=MD5, \
        nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"
        """,
        "WWW-Authenticate": """
        Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=SHA-256, \
        nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"
        """,
    ]

    private func answer(
        _ field: String, user: String = "Mufasa", password: String = "Circle of Life", clientNonce: String = "0a4f113b",
        method: String = "GET", uri: String = "/dir/index.html", body: [UInt8]? = []
    ) throws -> [String: String] {
        let challenge = try #require(DigestChallenge.best(in: ["WWW-Authenticate": field]))
        let answer = DigestAnswer(challenge: challenge, user: user, password: password, clientNonce: clientNonce, count: 1)
        let field = try answer.field(method: method, uri: uri, body: body)
        return try #require(AuthenticationChallenge.all(in: ["WWW-Authenticate": field]).first).parameters
    }

    /// RFC 7616 §3.9.1.
    @Test(arguments: [
        (0, "MD5", "8ca523f5e9506fed4657c9700eebdbec"),
        (1, "SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
    ])
    func theExamplesOfTheRFC(place: Int, algorithm: String, response: String) throws {
        let given = try answer(
            Self.challenges.values(.wwwAuthenticate)[place], clientNonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ")
        #expect(
            given == [
                "username": "Mufasa", "realm": "http-auth@example.org", "uri": "/dir/index.html", "algorithm": algorithm,
                "nonce": "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", "nc": "00000001",
                "cnonce": "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ", "qop": "auth", "response": response,
                "opaque": "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS",
            ])
    }

    /// RFC 2617 §3.5, in which no algorithm is named.
    @Test func theExampleOfTheOlderRFC() throws {
        let given = try answer(
            #"digest realm="testrealm@host.com", qop="auth,auth-int", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", opaque="5""#,
            password: "Circle Of Life")
        #expect(given["response"] == "6629fae49393a05397450978507c4ef1")
        #expect(given["algorithm"] == nil)
    }

    @Test func withoutAQualityItIsAsInRFC2069() throws {
        let given = try answer(
            #"Digest realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093""#, password: "CircleOfLife")
        #expect(given["response"] == "1949323746fe6a43ef61f9606e7febea")
        #expect(given["qop"] == nil && given["nc"] == nil)
    }

    @Test func theBodyIsCoveredWhereNothingElseIsOffered() throws {
        let field = #"Digest realm="r", nonce="n", qop="auth-int", algorithm=SHA-256"#
        let one = try answer(field, method: "PUT", body: [1])
        let other = try answer(field, method: "PUT", body: [2])
        #expect(one["qop"] == "auth-int")
        #expect(one["response"] != other["response"])
        let error = #expect(throws: HTTPError.self) { try answer(field, body: nil) }
        #expect(error?.code == .unsupported)
    }

    @Test func aSessionBindsTheUserToTheNonce() throws {
        let hash = HashFunction.md5.hexadecimal
        let user = try hash("\(try hash("Mufasa:r:Circle of Life")):n:0a4f113b")
        let expected = try hash("\(user):n:00000001:0a4f113b:auth:\(try hash("GET:/dir/index.html"))")
        #expect(try answer(#"Digest realm="r", nonce="n", qop=auth, algorithm=MD5-sess"#)["response"] == expected)
    }

    @Test(arguments: ["J\u{E4}søn Doe", "Ja\u{308}søn Doe"])
    func theUserMayBeHashedOrWrittenInUTF8(user: String) throws {
        let hashed = try answer(
            #"Digest realm="api@example.org", nonce="n", qop="auth", algorithm=SHA-256, charset=UTF-8, userhash=true"#,
            user: user)
        #expect(hashed["username"] == "5a1a8a47df5c298551b9b42ba9b05835174a5bd7d511ff7fe9191d8e946fc4e7")
        #expect(hashed["userhash"] == "true")
        let extended = try answer(#"Digest realm="r", nonce="n", qop="auth", charset=UTF-8"#, user: user, password: user)
        #expect(extended["username*"] == "UTF-8''J%C3%A4s%C3%B8n%20Doe")
        let userHash = try HashFunction.md5.hexadecimal("J\u{E4}søn Doe:r:J\u{E4}søn Doe")
        let target = try HashFunction.md5.hexadecimal("GET:/dir/index.html")
        #expect(try extended["response"] == HashFunction.md5.hexadecimal("\(userHash):n:00000001:0a4f113b:auth:\(target)"))
    }

    @Test func aQuotationMarkStaysInsideWhateverCombinesWithIt() throws {
        let answer = try answer("Digest realm=\"r\", nonce=\"a\\\"\u{301}, x=y\\\\\"")
        #expect(answer["nonce"] == "a\"\u{301}, x=y\\" && answer["x"] == nil)
    }

    @Test func theStrongestKnownChallengeIsAnswered() {
        #expect(DigestChallenge.best(in: Self.challenges)?.function == .sha256)
        let mixed: HTTPHeaders = [
            "WWW-Authenticate": #"Basic realm="a, Digest realm=\"x\"", Digest realm="r\"1", nonce=n1, algorithm=SHA-512-256,"#,
            "WWW-Authenticate": #"Negotiate YWJj==, , DIGEST Realm = "r2" , NONCE="n2",qop="auth-int , AUTH" , Bearer"#,
        ]
        let challenges = AuthenticationChallenge.all(in: mixed)
        #expect(challenges.map { $0.scheme.lowercased() } == ["basic", "digest", "negotiate", "digest", "bearer"])
        #expect(challenges[0].parameters == ["realm": #"a, Digest realm="x""#])
        let best = DigestChallenge.best(in: mixed)
        #expect(best?.realm == "r2" && best?.nonce == "n2")
        #expect(best?.qualities == ["auth-int", "auth"])
    }

    @Test(arguments: [
        "", ",", "=", "\"", "Digest", "Digest realm=", "Digest realm=\"", "Digest realm=\"a\\", "Digest =,=x, nonce", "ä",
        "Digest realm=r, nonce=n, qop=auth-conf",
    ])
    func rubbishIsNoChallenge(field: String) {
        #expect(DigestChallenge.best(in: ["WWW-Authenticate": field]) == nil)
    }

    @Test(
        arguments: [
            "realm=, qop=\"auth\", nonce=YWJj==", "qop=\"auth\", nonce=YWJj==, algorithm=MD5", "nonce=YWJj==, realm=, algorithm=",
        ])
    func challengesOfSmallServersAreAnswered(parameters: String) throws {
        let challenge = try #require(DigestChallenge.best(in: ["WWW-Authenticate": "Digest \(parameters)"]))
        #expect(challenge.realm.isEmpty && challenge.nonce == "YWJj==")
    }
}
