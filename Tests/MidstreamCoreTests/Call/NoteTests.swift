import Interception
import MidstreamAuthentication
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

/// Says something in each of its hooks.
private struct TalkingHooks: LifecycleInterceptor {
    func modifyRequest(_ request: HTTPRequest) async throws -> HTTPRequest {
        request.note("modifies")
        return HTTPRequest(request.urlText)
    }
    func willSend(_ request: HTTPRequest) async { request.note("sends") }
    func didReceiveSuccess(_ response: HTTPResponse) async throws {
        response.note("received \(response.status.code)")
        if response.status.isServerError { throw Failure() }
    }
    func modifyResponse(_ response: HTTPResponse) async throws -> HTTPResponse {
        response.note("hands on")
        return response
    }
    func didReceiveFailure(_ error: any Error, for request: HTTPRequest) async { request.note("failed") }
}

private struct TalkingBoth: RequestInterceptor, ResponseInterceptor {
    func intercept(request: inout HTTPRequest) async throws { request.note("down") }
    func intercept(response: inout HTTPResponse) async throws { response.note("up") }
}

private struct TalkingValidator: HTTPValidator {
    func validate(_ response: HTTPResponse, for request: HTTPRequest) async throws -> HTTPVerdict {
        request.note("looks at attempt \(request.attempt)")
        response.note("finds \(response.status.code)")
        return .next
    }
    func validate(_ error: any Error, for request: HTTPRequest) async throws -> HTTPVerdict {
        request.note("finds no answer")
        return .next
    }
}

@Suite("Notes", .leavesNothing, .timeLimit(.minutes(10)))
struct NoteTests {
    private let request = HTTPRequest("https://h/x")
    private let down = ClosureRequestInterceptor("Down") { $0.note("down") }
    private let up = ClosureResponseInterceptor("Up") { $0.note("up") }
    private let around = ClosureHTTPInterceptor("Around") { request, next in
        request.note("before")
        let response = try await next(request)
        request.note("after")
        return response
    }

    private func notes(
        _ transport: StubTransport = .ok, _ configuration: HTTPClient.Configuration = .init(),
        @PipelineBuilder of interceptors: () -> [any HTTPInterceptor]
    ) async throws -> [String] {
        let client = testClient(configuration: configuration, transport: transport, interceptors: interceptors)
        return try await client.send(request).trace.signedNotes
    }

    @Test("a request interceptor's and a response interceptor's stand at their own passes, at every stage")
    func requestAndResponse() async throws {
        for stage in InterceptorStage.allCases {
            let notes = try await notes {
                down.at(stage)
                around.at(stage)
                up.at(stage)
                TalkingBoth().at(stage)
            }
            #expect(
                notes == ["Down: down", "Around: before", "Around: after", "Up: up", "TalkingBoth: down", "TalkingBoth: up"])
        }
    }

    @Test("each hook may leave them, on a request of its own making, too")
    func hooks() async throws {
        let good = try await notes { TalkingHooks() }
        #expect(good == ["modifies", "sends", "received 200", "hands on"].map { "TalkingHooks: \($0)" })

        let client = testClient(transport: StubTransport(status: 500)) {
            ClosureHTTPInterceptor("Witness") { request, next in
                do {
                    return try await next(request)
                } catch is Failure {
                    return HTTPResponse(status: 200, request: request)
                }
            }
            TalkingHooks()
        }
        let bad = try await client.send(request).trace.signedNotes
        #expect(bad == ["modifies", "sends", "received 500", "failed"].map { "TalkingHooks: \($0)" })
    }

    @Test("what is noted on a request that was made from nothing is its maker's")
    func strangers() async throws {
        let notes = try await notes {
            ClosureHTTPInterceptor("Stranger") { _, next in
                let other = HTTPRequest("https://h/other")
                other.note("made")
                return try await next(other)
            }
            down
        }
        #expect(notes == ["Stranger: made", "Down: down"])
    }

    @Test("the full form may leave them on the response that it got")
    func fullForm() async throws {
        let full = ClosureHTTPInterceptor("Full") { request, next in
            let response = try await next(request)
            response.note("got \(response.status.code)")
            let second = try await next(request)
            response.note("got it again")
            second.note("and another")
            return response
        }
        #expect(
            try await notes {
                full
                up
            } == ["Full: got 200", "Full: got it again", "Full: and another", "Up: up", "Up: up"])
    }

    @Test("a validator's stand at the arbiter's place under the validator's name")
    func validators() async throws {
        var configuration = HTTPClient.Configuration()
        configuration.validators = [
            CallbackValidator { _, request in
                request.note("asked first")
                return .next
            },
            TalkingValidator(), DefaultValidator(retriableStatus: [503: .immediate]), TalkingValidator(),
        ]
        configuration.maxRetries = 2
        let stub = StubTransport(sequence: [.respond(503), .fail(HTTPError(.connection)), .respond(200)])
        let notes = try await notes(stub, configuration) { down.at(.call) }
        let first = ["Arbiter: CallbackValidator: asked first"]
        #expect(
            notes.filter { !$0.contains("attempt 1: ") && !$0.contains("attempt 2: ") } == ["Down: down"] + first + [
                "Arbiter: TalkingValidator: looks at attempt 1", "Arbiter: TalkingValidator: finds 503",
                "Arbiter: TalkingValidator: finds no answer",
            ] + first + ["Arbiter: TalkingValidator: looks at attempt 3", "Arbiter: TalkingValidator: finds 200"]
                + ["Arbiter: TalkingValidator: looks at attempt 3", "Arbiter: TalkingValidator: finds 200"])
    }

    @Test("a request's own validators are named, not the client's")
    func validatorsOfARequest() async throws {
        var request = request
        request.validators = [TalkingValidator()]
        let trace = try await testClient(transport: StubTransport.ok).send(request).trace
        #expect(
            trace.signedNotes == ["Arbiter: TalkingValidator: looks at attempt 1", "Arbiter: TalkingValidator: finds 200"])
    }

    @Test("what a retry strategy does before the next attempt is told at the arbiter's place")
    func strategies() async throws {
        var configuration = HTTPClient.Configuration()
        configuration.validators = [
            DefaultValidator(retriableStatus: [503: .afterTask({ $0.note("logged in") })])
        ]
        configuration.maxRetries = 1
        let stub = StubTransport(sequence: [.respond(503), .respond(200)])
        let notes = try await notes(stub, configuration) { around }
        #expect(notes.contains("Arbiter: logged in"))
    }

    private struct TalkingAuthenticator: Authenticator {
        func apply(_ credential: Int, to request: inout HTTPRequest) async throws { request.note("applied \(credential)") }
        func refresh(_ credential: Int?) async throws -> Int { 7 }
    }

    @Test("an authenticator's stand at its interceptor's place")
    func authenticators() async throws {
        let notes = try await notes {
            AuthenticationInterceptor(TalkingAuthenticator(), credential: 3)
        }
        #expect(notes.count == 1 && notes[0].hasSuffix(": applied 3"))
    }

    @Test("those of chained interceptors are put down to each")
    func chains() async throws {
        let notes = try await notes {
            ChainedRequestInterceptor.chain(inOrder: [down, TalkingBoth(), down])
            ChainedResponseInterceptor.chain(inOrder: [up, TalkingBoth()])
        }
        // Responses pass the second chain as listed, so its first is the innermost.
        #expect(
            notes == [
                "Down: down", "TalkingBoth: down", "TalkingBoth: up", "Down: down", "TalkingBoth: down", "TalkingBoth: up",
                "Up: up",
            ])
    }

    @Test("calls of next at the same time keep theirs apart")
    func concurrentNext() async throws {
        let hedge = ClosureHTTPInterceptor("Hedge") { request, next in
            try await withThrowingTaskGroup(of: HTTPResponse.self) { group in
                for number in 0..<20 {
                    var request = request
                    request.headers["X-Number"] = "\(number)"
                    group.addTask { [request] in try await next(request) }
                }
                var last: HTTPResponse?
                for try await response in group { last = response }
                return try #require(last)
            }
        }
        let tells = ClosureRequestInterceptor("Tells") {
            let number = $0.headers["X-Number"] ?? ""
            $0.note("down \(number)")
            await Task.yield()
            $0.note("still \(number)")
        }
        let hears = ClosureResponseInterceptor("Hears") {
            $0.note("up \($0.request.headers["X-Number"] ?? "")")
        }
        let client = testClient(transport: StubTransport.ok) {
            hedge
            tells
            hears
        }
        let spans = try await client.send(request).trace.spans
        let passes = try #require(spans.first?.children.first?.children)
        #expect(passes.count == 20)
        for pass in passes {
            let number = try #require(pass.notes.first?.split(separator: " ").last)
            #expect(pass.notes == ["down \(number)", "still \(number)"])
            #expect(pass.children.first?.notes == ["up \(number)"])
        }
        #expect(Set(passes.flatMap(\.notes)).count == 40)
    }

    @Test("who has next run in another task speaks for itself meanwhile", arguments: [false, true])
    func nextInAnotherTask(isDetached: Bool) async throws {
        let (hasBegun, mayEnd) = (Gate(), Gate())
        let starts = ClosureHTTPInterceptor("Starts") { request, next in
            let inner = isDetached ? Task.detached { try await next(request) } : Task { try await next(request) }
            await hasBegun.wait()
            request.note("meanwhile")
            mayEnd.open()
            let response = try await inner.value
            response.note("after")
            return response
        }
        let waits = ClosureRequestInterceptor("Waits") {
            $0.note("begins")
            hasBegun.open()
            await mayEnd.wait()
            $0.note("ends")
        }
        let notes = try await notes {
            down
            starts
            waits
            around
        }
        #expect(
            notes == [
                "Down: down", "Starts: meanwhile", "Starts: after", "Waits: begins", "Waits: ends", "Around: before",
                "Around: after",
            ])
    }

    @Test("who speaks in a task of its own while next runs speaks for itself")
    func besideNext() async throws {
        let (hasBegun, mayEnd) = (Gate(), Gate())
        let watches = ClosureHTTPInterceptor("Watches") { request, next in
            async let aside: Void = {
                await hasBegun.wait()
                request.note("slow")
                mayEnd.open()
            }()
            let response = try await next(request)
            await aside
            return response
        }
        let waits = ClosureRequestInterceptor("Waits") { _ in
            hasBegun.open()
            await mayEnd.wait()
        }
        let notes = try await notes {
            down
            watches
            waits
        }
        #expect(notes == ["Down: down", "Watches: slow"])
    }

    @Test("what an interceptor says between two calls of next is its own")
    func betweenTries() async throws {
        let twice = ClosureHTTPInterceptor("Twice") { request, next in
            request.note("before")
            _ = try await next(request)
            request.note("between")
            defer { request.note("after") }
            return try await next(request)
        }
        let notes = try await notes {
            down
            twice
            around
        }
        #expect(
            notes == [
                "Down: down", "Twice: before", "Twice: between", "Twice: after", "Around: before", "Around: after",
                "Around: before", "Around: after",
            ])
    }

    @Test("a response that another call got belongs to the one that hands it on")
    func sharedResponses() async throws {
        let kept = Locked<HTTPResponse?>(nil)
        let keeps = ClosureHTTPInterceptor("Keeps", stage: .exchange) { request, next in
            if let response = kept.withLock({ $0 }) { return response }
            let response = try await next(request)
            kept.withLock { $0 = response }
            return response
        }
        let client = testClient(transport: StubTransport.ok) {
            up
            keeps
        }
        let first = try await client.send(request)
        let second = try await client.send(request)
        #expect(first.trace.signedNotes == ["Up: up"])
        #expect(second.trace.signedNotes == ["Up: up"])
    }

    @Test("a request or a response that has left its call leaves none")
    func outside() async throws {
        let seen = Locked<HTTPRequest?>(nil)
        let client = testClient(transport: StubTransport.ok) {
            ClosureRequestInterceptor("Leaks") { request in seen.withLock { [request] in $0 = request } }
        }
        let response = try await client.send(request)
        response.note("too late")
        let again = try await client.send(try #require(seen.withLock { $0 }))
        #expect(response.trace.signedNotes.isEmpty && again.trace.signedNotes.isEmpty)
        request.note("nowhere")
        HTTPResponse(status: 200, request: request).note("nowhere")
    }

    /// Keeps nothing of what it is sent.
    private struct Forgetful: HTTPTransport {
        func send(_ request: HTTPRequest) async throws -> HTTPResponse { HTTPResponse(status: 200, request: request) }
    }

    @Test("one about the end of an unread body is left when the next request takes its place")
    func unreadBodies() async throws {
        let watches = ClosureHTTPInterceptor("Watches") { request, next in
            for number in 1...2 {
                var watched = request
                watched.body = request.body.observed(onChunk: { _ in }, onEnd: { _ in request.note("ended \(number)") })
                _ = try await next(watched)
            }
            return try await next(request)
        }
        var request = request
        request.body = .once(HTTPBody.text("once"))
        let response = try await testClient(transport: Forgetful()) { watches }.send(request)
        #expect(response.trace.signedNotes == ["Watches: ended 1", "Watches: ended 2"])
    }

    @Test("a text isn't made where nothing is recorded")
    func turnedOff() async throws {
        var configuration = HTTPClient.Configuration()
        configuration.recordsTrace = false
        let made = Steps()
        let validator = CallbackValidator { response, request in
            request.note("\(made.note("made"))")
            response.note("\(made.note("made"))")
            return .next
        }
        configuration.validators = [validator]
        _ = try await notes(.ok, configuration) {
            ClosureRequestInterceptor { $0.note("\(made.note("made"))") }
            ClosureResponseInterceptor { $0.note("\(made.note("made"))") }
        }
        #expect(made.all.isEmpty)
    }
}
