internal import Interception
internal import MidstreamCore

struct InterceptorTrial: Sendable {
    let law: InterceptorLaw
    let interceptor: any HTTPInterceptor
    let request: HTTPRequest

    /// All byte values, in pieces of odd sizes, so that a text conversion or a lost piece shows.
    private static let content = (0..<2_000).map { UInt8($0 % 256) }
    private static var pieces: AsyncStream<[UInt8]> {
        AsyncStream { pieces in
            for start in stride(from: 0, to: content.count, by: 97) { pieces.yield(Array(content[start...].prefix(97))) }
            pieces.finish()
        }
    }

    func preservesBodies() async throws {
        let content = Self.content
        // A body that the caller has chosen is one that the interceptor can do with.
        let given = request.body.bytes.flatMap { $0.isEmpty ? nil : $0 }
        let received = Locked<[[UInt8]]>([])
        let bodies: [(isInMemory: Bool, make: () -> HTTPBody)] = [
            (false, { .stream { Self.pieces } }), (true, { .bytes(content) }), (false, { .once(Self.pieces) }),
        ]
        for (isInMemory, make) in bodies {
            let client = client { request in
                let bytes = try await request.body.collect()
                received.withLock { $0.append(bytes) }
                let body = isInMemory ? HTTPBody.bytes(content) : .incoming(WatchedBody(content))
                return HTTPResponse(status: 200, body: body, request: request)
            }
            var (first, second) = (request, request)
            if given == nil {
                (first.method, second.method) = (.post, .post)
                (first.body, second.body) = (make(), make())
            }
            do {
                try check(
                    try await client.send(first).body.collect() == content, "a buffered response's body changed on its way up")
                try check(
                    try await client.stream(second).body.collect() == content,
                    "a streamed response's body changed on its way up")
            } catch let error as HTTPError where error.code == .bodyNotReplayable {
                throw violation("the request's body, which can be read once, was read and not put back")
            }
        }
        try check(!received.withLock { $0.isEmpty }, "the request never arrived further in")
        try check(received.withLock { $0.allSatisfy { $0 == given ?? content } }, "the request's body changed on its way down")
    }

    func passesCancellation() async throws {
        let arrivals = AsyncStream.makeStream(of: Void.self)
        let wasCancelled = Locked(false)
        let witness = CancellationWitness(stage: interceptor.stage)
        let client = client(within: witness) { _ in
            arrivals.continuation.yield()
            do {
                try await Task.sleep(for: .seconds(3_600))
            } catch {
                wasCancelled.withLock { $0 = true }
                throw error
            }
            throw HTTPError(.timeout)
        }
        let call = Task {
            defer { arrivals.continuation.finish() }
            return try await client.send(request)
        }
        let hasArrived = await arrivals.stream.first { _ in true } != nil
        try check(hasArrived, "the request never arrived further in")
        call.cancel()
        _ = await call.result
        // It may be told a moment later than the caller, where several callers share it.
        for _ in 0..<1_000 where !wasCancelled.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(10)) }
        try check(wasCancelled.withLock { $0 }, "what lies further in wasn't cancelled")
        guard let error = witness.failure.withLock({ $0 }) else { throw violation("a cancelled call succeeded") }
        try check(error is CancellationError, "a cancelled call ended with \(type(of: error)), not with CancellationError")
    }

    func isReusableConcurrently() async throws {
        // A body that is given is that of all calls.
        let isBodyFree = request.body.bytes?.isEmpty == true
        let client = client { request in
            let name = request.headers["X-Law"] ?? ""
            let sent = isBodyFree ? String(decoding: try await request.body.collect(), as: UTF8.self) : ""
            await Task.yield()
            return HTTPResponse(
                status: 200, headers: ["X-Law": name, "X-Sent": Int(sent).map { "\($0)" } ?? name],
                body: .incoming(WatchedBody(Array(name.utf8))), request: request)
        }
        try await withThrowingTaskGroup(of: (String, HTTPResponse).self) { group in
            for number in 0..<100 {
                group.addTask {
                    var request = request
                    request.headers["X-Law"] = "\(number)"
                    if isBodyFree, !number.isMultiple(of: 2) {
                        request.method = .post
                        request.body = .text("\(number)")
                    }
                    return ("\(number)", try await client.send(request))
                }
            }
            for try await (name, answer) in group {
                let other = answer.headers["X-Law"]
                try check(other == name, "call \(name) got the answer to call \(other ?? "nobody")")
                try check(answer.headers["X-Sent"] == name, "call \(name) was sent with the body of another one")
                let content = try await answer.body.collect()
                try check(content == Array(name.utf8), "call \(name) got the body of the answer to another one")
            }
        }
    }

    func closesWhatItKeepsBack() async throws {
        for status in [200, 304, 401, 403, 429, 503] {
            let bodies = Locked<[WatchedBody]>([])
            let client = client { request in
                let body = WatchedBody(Self.content)
                bodies.withLock { $0.append(body) }
                return HTTPResponse(status: HTTPStatus(status), body: .incoming(body), request: request)
            }
            var response: HTTPResponse?
            var carried: HTTPBody?
            do {
                response = try await client.stream(request)
            } catch {
                // A response that an error carries is handed on, too; whoever catches it closes it.
                carried = (error as? HTTPError)?.response?.body
            }
            let delivered = response?.body.incoming as? WatchedBody
            // One that stands around another can't be told to be that one; closing it will show.
            let isWrapped = response?.body.incoming != nil && delivered == nil
            let all = bodies.withLock { $0 }
            for body in all where body !== carried?.incoming as? WatchedBody && !isWrapped {
                if body === delivered {
                    try check(!body.isClosed, "a response with \(status) was handed on closed")
                } else {
                    try check(body.isClosed || body.isOver, "a response with \(status) was kept back and left open")
                }
            }
            response?.body.close()
            carried?.close()
            for body in all {
                try check(
                    body.isClosed || body.isOver, "a response with \(status) was kept back, or stays open though it is closed")
            }
        }
    }

    func passesErrors() async throws {
        struct FromFurtherIn: Error {}
        let errors: [any Error] = [
            FromFurtherIn(), HTTPError(.connection, "law", underlying: FromFurtherIn(), phase: .notSent),
            HTTPError(.protocolViolation, "law"),
        ]
        for expected in errors {
            let client = client { _ in throw expected }
            do {
                _ = try await client.send(request)
            } catch {
                let (given, found) = (expected as? HTTPError, error as? HTTPError)
                let isSame =
                    given.map { $0.code == found?.code && $0.message == found?.message } ?? (error is FromFurtherIn)
                try check(isSame, "an error from further in became \(found.map { "\($0.code)" } ?? "\(type(of: error))")")
                // Whether a request may be sent again is decided by it.
                try check(given?.phase == found?.phase, "an error from further in lost its phase")
                let hasCause = (given?.underlying is FromFurtherIn) == (found?.underlying is FromFurtherIn)
                try check(hasCause, "an error from further in lost the error behind it")
                continue
            }
            throw violation("an error from further in was swallowed")
        }
    }

    func plansWhatItDoes() async throws {
        let stub = StubTransport(status: .ok)
        let client = client(over: stub)
        let explanation = try await client.explain(request)
        _ = try await client.send(request)
        guard explanation.steps.allSatisfy(\.plan.isKnown) else { return }
        guard let sent = stub.requests.first else { throw violation("it plans to pass the request on and sends nothing") }
        let planned = explanation.request
        try check(planned.method == sent.method, "it plans \(planned.method) and sends \(sent.method)")
        try check(planned.urlText == sent.urlText, "it plans \(planned) and sends \(sent)")
        for name in Set(planned.headers.map(\.name) + sent.headers.map(\.name)) {
            try check(
                planned.headers.values(name) == sent.headers.values(name), "it plans other fields \(name) than it sends")
        }
        if let bytes = planned.body.bytes, let others = sent.body.bytes {
            try check(bytes == others, "it plans another body than it sends")
        }
    }

    func endsInTime() async throws {
        guard interceptor.traits.contains(.endsInTime) else { return }
        // One that never answers, and answers after which some wait.
        for status in [nil, 401, 429, 503] as [HTTPStatus?] {
            let client = client { request in
                guard let status else {
                    try await Task.sleep(for: .seconds(3_600))
                    throw HTTPError(.timeout)
                }
                return HTTPResponse(status: status, headers: [.retryAfter: "3600"], request: request)
            }
            let late = try await callsBeyondDeadline(by: client)
            try check(late == 0, "\(late) of 3 calls went on ten seconds after their deadline")
        }
    }

    private func callsBeyondDeadline(by client: HTTPClient) async throws -> Int {
        var request = request
        request.deadline = .milliseconds(50)
        let running = Locked(3)
        let calls = (0..<3).map { _ in
            Task { [request] in
                _ = try? await client.send(request)
                running.withLock { $0 -= 1 }
            }
        }
        for _ in 0..<1_000 where running.withLock({ $0 > 0 }) { try await Task.sleep(for: .milliseconds(10)) }
        let late = running.withLock { $0 }
        for call in calls { call.cancel() }
        for call in calls { await call.value }
        return late
    }

    func impersonal() async throws {
        guard interceptor.traits.contains(.impersonal) else { return }
        for status in [200, 401, 403] as [HTTPStatus] {
            // Who comes last brings nothing, and mustn't be taken for one of the others.
            for user in ["ann", "bob", nil] {
                var given = request
                if let user { given.headers[.authorization] = "Bearer \(user)" }
                let stub = StubTransport(status: status, headers: [.setCookie: "law=\(user ?? "nobody")"])
                _ = try? await client(over: stub).send(given)
                try check(
                    !stub.requests.contains { $0.hasSecrets(beyond: given) },
                    "it adds secrets or items of the query, though it says that it does the same for everybody")
            }
        }
    }

    private func client(
        within outer: (any HTTPInterceptor)? = nil, _ respond: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse
    ) -> HTTPClient {
        client(within: outer, over: StubTransport(respond))
    }

    private func client(within outer: (any HTTPInterceptor)? = nil, over stub: StubTransport) -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        configuration.validators = []
        configuration.timeout = nil
        return HTTPClient(configuration: configuration, transport: stub) {
            outer
            interceptor
        }
    }

    private func check(_ condition: Bool, _ problem: @autoclosure () -> String) throws {
        if !condition { throw violation(problem()) }
    }

    private func violation(_ problem: String) -> InterceptorLawViolation {
        InterceptorLawViolation(
            law: law, interceptor: "\(type(of: interceptor))",
            description: "\(type(of: interceptor)) breaks the law \(law.rawValue): \(problem).")
    }
}

/// Looks at what an interceptor throws itself: the arbiter would make a cancellation of anything.
struct CancellationWitness: HTTPInterceptor {
    let stage: InterceptorStage
    /// The outermost, so that it stands around an interceptor of any rank.
    let rank = InterceptorRank.scheme
    let failure = Locked<(any Error)?>(nil)

    func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        do {
            return try await next(request)
        } catch {
            failure.withLock { $0 = error }
            throw error
        }
    }
}

/// A body that arrives in pieces and knows whether it was closed.
private final class WatchedBody: IncomingBody {
    private struct State {
        var rest: [[UInt8]]
        var isClosed = false
        var isSpent = false
        var isOver = false
    }

    private let state: Locked<State>

    init(_ content: [UInt8]) {
        let middle = content.count / 3
        state = Locked(State(rest: [Array(content[..<middle]), Array(content[middle...])]))
    }

    var isClosed: Bool { state.withLock { $0.isClosed } }
    var isSpent: Bool { state.withLock { $0.isSpent } }
    /// Whether it was read to its end, after which a connection is free again.
    var isOver: Bool { state.withLock { $0.isOver } }
    var trailers: HTTPHeaders? { nil }
    var metrics: TransportMetrics? { nil }

    func next() async throws -> [UInt8]? {
        try state.withLock { state in
            guard !state.isClosed else { throw HTTPError(.connectionLost, "The body was closed.") }
            state.isSpent = true
            state.isOver = state.rest.isEmpty
            return state.isOver ? nil : state.rest.removeFirst()
        }
    }

    func close() { state.withLock { $0.isClosed = true } }
}
