import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("E. What may be sent again", .leavesNothing)
struct ResendRulesTests {
    private let bench = ArbiterBench()

    /// What the first attempt ends with.
    enum Ending: Sendable, CaseIterable {
        case response, notSent, maybeProcessed, answered
    }

    /// Who asks for the retry.
    enum Asking: Sendable, CaseIterable {
        case library, user
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let method: HTTPMethod
        let ending: Ending
        let asking: Asking
        let permission: String

        var testDescription: String { "\(method), \(ending), asked by the \(asking), \(permission)" }

        /// The rule as the documentation has it.
        var maySendAgain: Bool {
            if ending == .notSent || permission != "nothing" { return true }
            if ending == .response && asking == .user { return true }
            return ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"].contains(method.rawValue)
        }

        static let all: [Case] = ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "POST", "PATCH", "PURGE"].flatMap {
            method in
            Ending.allCases.flatMap { ending in
                Asking.allCases.flatMap { asking in
                    ["nothing", "Idempotency-Key", "allowsUnsafeRetry"].map { permission in
                        Case(method: HTTPMethod(rawValue: method), ending: ending, asking: asking, permission: permission)
                    }
                }
            }
        }
    }

    private func stub(_ ending: Ending) -> StubTransport {
        StubTransport { request in
            guard request.attempt == 1 else { return HTTPResponse(status: .ok, request: request) }
            switch ending {
            case .response: return HTTPResponse(status: 503, request: request)
            case .notSent: throw HTTPError(.connection, phase: .notSent)
            case .maybeProcessed: throw HTTPError(.connectionLost, phase: .maybeProcessed)
            case .answered: throw HTTPError(.connectionLost, phase: .answered)
            }
        }
    }

    private func validators(_ asking: Asking) -> [any HTTPValidator] {
        switch asking {
        case .user: [AlwaysRetry()]
        case .library:
            [
                DefaultValidator(
                    retriableStatus: [503: .immediate], retriableErrors: [.connection: .immediate, .connectionLost: .immediate])
            ]
        }
    }

    @Test("E10 never sent, idempotent, or allowed; and any response that the user wants another of", arguments: Case.all)
    func matrix(each: Case) async {
        let stub = stub(each.ending)
        var request = HTTPRequest(each.method, "/")
        if each.permission == "Idempotency-Key" { request.headers["idempotency-key"] = "k" }
        request.allowsUnsafeRetry = each.permission == "allowsUnsafeRetry"
        let client = bench.client(stub, maxRetries: 1, validators: validators(each.asking))
        let result = await bench.waits(0, of: client, request).result
        #expect(stub.requests.count == (each.maySendAgain ? 2 : 1))
        // What isn't sent again ends as if no retry were allowed.
        let code: HTTPError.Code? =
            each.maySendAgain ? nil : each.ending == .response ? .unacceptableStatus : .connectionLost
        #expect(result.httpError?.code == code)
        if !each.maySendAgain {
            #expect(result.httpError?.trace?.arbiterNotes.last?.contains("may have acted on the \(each.method)") == true)
        }
    }

    @Test("E10 an error that isn't the library's counts as maybe processed", arguments: [(HTTPMethod.get, 2), (.post, 1)])
    func userError(method: HTTPMethod, sends: Int) async {
        let stub = StubTransport { _ in throw Failure() }
        let client = bench.client(stub, maxRetries: 1, validators: [AlwaysRetry()])
        _ = await bench.waits(0, of: client, HTTPRequest(method, "/"))
        #expect(stub.requests.count == sends)
    }

    @Test("E10 a body that can be read once and was isn't sent again", arguments: Asking.allCases)
    func onceBody(asking: Asking) async {
        let stub = StubTransport { request in
            _ = try await request.body.collect()
            return HTTPResponse(status: 503, body: .text("busy"), request: request)
        }
        let client = bench.client(stub, maxRetries: 3, validators: validators(asking))
        let error = await httpError { try await client.send(HTTPRequest(.put, "/", body: .once(chunks("a", "b")))) }
        #expect(error?.code == .bodyNotReplayable && error?.response?.body.text == "busy" && error?.phase == .answered)
        #expect((error?.underlying as? HTTPError)?.code == .unacceptableStatus)
        #expect(stub.requests.count == 1)
    }

    @Test("E10 nor is it where a redirect led on from it")
    func redirectedOnceBody() async {
        let stub = StubTransport(sequence: [.respond(303, headers: [.location: "https://h/b"]), .respond(503)])
        let client = bench.client(stub, maxRetries: 3, validators: validators(.library))
        let error = await httpError { try await client.send(HTTPRequest(.put, "/", body: .once(chunks("a", "b")))) }
        #expect(error?.code == .bodyNotReplayable && error?.response?.status == 503)
        #expect(stub.requests.map(\.method) == [.put, .get])
    }

    @Test("E10 a body that can be read once and wasn't yet may be sent again")
    func unspentBody() async throws {
        let stub = StubTransport { request in
            guard request.attempt > 1 else { throw HTTPError(.connection, phase: .notSent) }
            return HTTPResponse(status: .ok, body: .bytes(try await request.body.collect()), request: request)
        }
        let client = bench.client(stub, maxRetries: 1, validators: validators(.library))
        let response = try await client.send(HTTPRequest(.post, "/", body: .once(chunks("a", "b"))))
        #expect(response.body.text == "ab" && stub.requests.count == 2)
    }

    @Test("E10 no alternate is made for a request that couldn't be sent again")
    func alternateForOnceBody() async {
        let stub = StubTransport { request in
            _ = try await request.body.collect()
            return HTTPResponse(status: .unauthorized, request: request)
        }
        let client = bench.client(stub, validators: [AlternateRequestValidator { _, _ in HTTPRequest("/login") }])
        let error = await httpError { try await client.send(HTTPRequest(.post, "/", body: .once(chunks("a")))) }
        #expect(error?.code == .bodyNotReplayable && stub.requests.count == 1)
    }

    @Test("E10 a request that was answered with a redirect isn't one that was never sent")
    func redirectedPost() async {
        let stub = StubTransport { request in
            guard request.method == .post else { throw HTTPError(.connection, "refused", phase: .notSent).refusedHere }
            return HTTPResponse(status: .seeOther, headers: [.location: "https://down"], request: request)
        }
        let client = bench.client(stub, maxRetries: 3, validators: validators(.library))
        let error = await httpError { try await client.send(HTTPRequest(.post, "/pay")) }
        #expect(error?.code == .connection && error?.phase == .answered && error?.isRefusedHere == true)
        #expect(stub.requests.map(\.description) == ["POST https://h/pay", "GET https://down"])
    }

    @Test("E10 nor is a POST that a redirect's closure makes sent again for the GET that led to it", arguments: [true, false])
    func postOfAClosure(isAnswered: Bool) async {
        let stub = StubTransport { request in
            guard request.method == .post else {
                return HTTPResponse(status: .found, headers: [.location: "https://h/form"], request: request)
            }
            guard isAnswered else { throw HTTPError(.connectionLost, request: request) }
            return HTTPResponse(status: .serviceUnavailable, request: request)
        }
        let client = bench.client(stub, maxRetries: 3, validators: validators(.library)) {
            $0.redirects = .custom { target, _ in
                var form = target
                form.method = .post
                return form
            }
        }
        let error = await httpError { try await client.send(HTTPRequest("/")) }
        #expect(error?.code == (isAnswered ? .unacceptableStatus : .connectionLost))
        #expect(stub.requests.map(\.method) == [.get, .post])
    }

    @Test(
        "E10 nor is one that was answered, if another request within its call was never sent",
        arguments: [false, true], [false, true])
    func failureWithin(isRedirected: Bool, isOfSameRequest: Bool) async {
        let stub = StubTransport { request in
            HTTPResponse(status: isRedirected ? 303 : 201, headers: [.location: "https://h/paid"], request: request)
        }
        let other = bench.client(StubTransport { _ in throw HTTPError(.connection, phase: .notSent) })
        let ask: @Sendable (HTTPRequest) async throws -> HTTPRequest = { request in
            var question = isOfSameRequest ? request : HTTPRequest("/")
            (question.method, question.urlText) = (.get, "https://h/ask")
            return try await other.send(question).request
        }
        let client = bench.client(stub, maxRetries: 3, validators: validators(.library)) {
            $0.redirects = .custom { target, _ in try await ask(target) }
        } interceptors: {
            ClosureResponseInterceptor { response in _ = try await ask(response.request) }
        }
        let error = await httpError { try await client.send(HTTPRequest(.post, "/pay")) }
        #expect(error?.code == .connection && error?.phase != .notSent && error?.isTransient == false)
        #expect(stub.requests.map(\.description) == ["POST https://h/pay"])
    }

    /// What the server makes of a POST before another request of the interceptor isn't sent.
    @Test(
        "E10 nor is one that was answered before an interceptor sent it again, unless it was asked for credentials",
        arguments: [HTTPStatus.accepted, .unauthorized])
    func sentTwiceByAnInterceptor(status: HTTPStatus) async {
        let stub = StubTransport { request in
            if request.urlText.hasSuffix("/again") { throw HTTPError(.connection, request: request, phase: .notSent) }
            return HTTPResponse(status: status, request: request)
        }
        let client = bench.client(stub, maxRetries: 1, validators: validators(.library)) { _ in
        } interceptors: {
            ClosureHTTPInterceptor { request, next in
                _ = try await next(request)
                var again = request
                again.urlText += "/again"
                return try await next(again)
            }.at(.attempt)
        }
        let error = await bench.waits(0, of: client, HTTPRequest(.post, "/pay")).result.httpError
        let isSentAgain = status == .unauthorized
        #expect(stub.requests.count == (isSentAgain ? 4 : 2))
        #expect(error?.phase == (isSentAgain ? .notSent : .maybeProcessed) && error?.isTransient == isSentAgain)
    }

    @Test("E10 what a transport fails with is the call's, also where that sends by another client")
    func transportOfAnotherClient() async throws {
        let stub = StubTransport(sequence: [.fail(HTTPError(.connection, phase: .notSent)), .respond(.ok)])
        let other = bench.client(stub)
        let client = bench.client(StubTransport { try await other.send($0) }, maxRetries: 1, validators: validators(.library))
        let response = try await client.send(HTTPRequest(.post, "/pay"))
        #expect(response.status == .ok && stub.requests.count == 2)
    }

    @Test("E10 a request that an interceptor makes in the place of the call's is the call's")
    func madeAnew() async throws {
        let sent = Locked(0)
        let stub = StubTransport { request in
            let isFirst = sent.withLock { sent in
                sent += 1
                return sent == 1
            }
            if isFirst { throw HTTPError(.connection, request: request, phase: .notSent) }
            return HTTPResponse(status: .ok, request: request)
        }
        let client = bench.client(stub, maxRetries: 1, validators: validators(.library)) { _ in
        } interceptors: {
            ClosureHTTPInterceptor { _, next in try await next(HTTPRequest(.post, "https://mirror/pay")) }
        }
        #expect(try await client.send(HTTPRequest(.post, "/pay")).status == .ok)
        #expect(sent.withLock { $0 } == 2)
    }

    @Test("E10 who asks for a redirect's target in vain may ask again, if the request may be sent again")
    func closureWithin() async {
        let stub = StubTransport(status: .found, headers: [.location: "https://h/there"])
        let other = bench.client(StubTransport { throw HTTPError(.connection, request: $0, phase: .notSent) })
        let client = bench.client(stub) {
            $0.redirects = .custom { _, _ in try await other.send(HTTPRequest(.post, "/token")).request }
        }
        let error = await httpError { try await client.send(HTTPRequest("/")) }
        #expect(error?.code == .connection && error?.phase != .notSent && error?.isTransient == true)
    }
}
