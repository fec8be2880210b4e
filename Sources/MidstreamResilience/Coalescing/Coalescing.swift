public import Interception
public import MidstreamCore

/// Makes one call of equal ones at the same time: a hundred views that request the same thing cause one request.
///
/// ```swift
/// let client = HTTPClient(baseURL: "https://api.example.com") { Coalescing() }
/// ```
///
/// Requests are equal if they would go on the wire from the same client and for the same user, with the same method, URL, header fields and
/// body in memory, and have the same context, timeout and number of retries; fields that only number a request may differ. The plans of
/// the interceptors further in (``HTTPInterceptor/plan(_:)``) and their identities (``HTTPInterceptor/identity(of:)``) are part of
/// this, so that users who sign in one after the other never share a response. Where plans are asked, interceptors for requests that have
/// none are run once more beforehand, closures included: what they send then fails with ``HTTPError/Code/explaining``, which they
/// mustn't keep for real calls; a `SingleFlight` keeps nothing of it. A request isn't shared when
/// - one of these interceptors has no plan, unless `identity` identifies the user,
/// - its method isn't safe (RFC 9110 §9.2.1), its response is streamed, or its body isn't in memory,
/// - it has interceptors, validators or other values in its context that can't be compared,
/// - an unsafe request has ended since the other one began, the body of its response included, so that a change is visible to the one who
///   made it.
///
/// Each caller gets the whole response, or the failure. The shared call has the deadline of none of them: a cancelled or late caller leaves
/// the others alone, and when all have left, the call is cancelled. A wait before a retry isn't begun that would pass the latest of their
/// deadlines; quotas and ``DeadlineHeader`` know of none. Nothing is kept afterwards; that is a cache's task.
///
/// It stands innermost in its stage, so each caller has its own logs and fallback.
public final class Coalescing: HTTPInterceptor {
    /// Fields that only number a request: `traceparent`, `tracestate` and `X-Request-ID`.
    public static let numbering: Set<HTTPHeaders.Name> = HTTPHeaders.tracing.union(["X-Request-ID"])

    /// An object, so that handing it on copies one reference.
    private final class Answer: Sendable {
        let result: Result<HTTPResponse, any Error>
        let maker: Call
        /// Of the maker's request.
        let id: HTTPRequest.ID

        init(_ result: Result<HTTPResponse, any Error>, by maker: Call, of id: HTTPRequest.ID) {
            (self.result, self.maker, self.id) = (result, maker, id)
        }
    }

    private enum Sharing {
        case with(CoalescingKey)
        case not(because: String)
    }

    private let ignored: [HTTPHeaders.Name]
    private let identity: (@Sendable (HTTPRequest) -> String?)?
    private let flights = SingleFlight<CoalescingKey, Answer>(cancelsAbandoned: true)
    private let changes = Locked<UInt64>(0)

    /// Makes one.
    ///
    /// - Parameters:
    ///   - ignored: Header fields in which equal requests may differ; ``numbering`` by default. The server sees those of one of them.
    ///   - identity: The user of a request, such as a name or a session's number, for clients with interceptors that can't tell users apart;
    ///     it replaces their plans and identities. A request for which it returns nil isn't shared. Called in the request's task; its
    ///     value appears nowhere.
    public init(
        ignoring ignored: Set<HTTPHeaders.Name> = Coalescing.numbering, identity: (@Sendable (HTTPRequest) -> String?)? = nil
    ) {
        self.ignored = Array(ignored)
        self.identity = identity
    }

    /// `.call`: attempts and redirects are shared as well.
    public var stage: InterceptorStage { .call }
    /// `.innermost`
    public var rank: InterceptorRank { .innermost }
    /// Equal requests get equal answers, whose they are.
    public var traits: InterceptorTraits { .impersonal }

    /// Sends the request on, or waits for the response to an equal one.
    ///
    /// - Throws: What the shared call throws; `CancellationError` when this caller's task is cancelled, and
    ///   ``HTTPError/Code/deadlineExceeded`` when its time is over.
    @inline(__always)
    public func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        guard request.method.isSafe else {
            // However it ended, requests from now on must see its effect.
            defer { changes.withLock { $0 &+= 1 } }
            let response = try await next(request)
            return response.isWhole ? response : countingItsEnd(response)
        }
        guard let call = next.call, case .buffered = call.delivery else { return try await next(request) }
        switch try await sharing(of: request, in: call) {
        case .not(let reason):
            next.position.note({ "not shared: \(reason)" }, about: request)
            return try await next(request)
        case .with(let key): return try await answer(to: request, key, in: call, next)
        }
    }

    /// How many callers wait for responses.
    public var waiting: Int { flights.allWaiters }

    /// Whether an equal request is under way.
    public func plan(_ request: inout HTTPRequest) async throws -> RequestPlan {
        guard request.method.isSafe else { return .known("not shared: a \(request.method) may change something") }
        guard let call = ChainPosition.current?.call else { return .known() }
        switch try await sharing(of: request, in: call) {
        case .not(let reason): return .known("not shared: \(reason)")
        case .with(let key):
            let waiters = flights.waiters(for: key)
            return waiters == 0
                ? .known("shares its answer with equal requests")
                : .unknown("would share the answer of an equal request, as \(waiters) do")
        }
    }

    /// The response to an unsafe request, of which the server may make more until its body has ended.
    @inline(never)
    private func countingItsEnd(_ response: HTTPResponse) -> HTTPResponse {
        var response = response
        response.body = response.body.observed { _ in
        } onEnd: { [changes] _ in
            changes.withLock { $0 &+= 1 }
        }
        return response
    }

    private func sharing(of request: HTTPRequest, in call: Call) async throws -> Sharing {
        guard call.sharing == nil else { return .not(because: "it is made for another call") }
        guard !request.isUpgrade else { return .not(because: "it asks for a connection of its own") }
        guard request.body.bytes != nil else { return .not(because: "its body isn't in memory") }
        guard !request.isWatchedArriving else { return .not(because: "its answer is watched while it arrives") }
        guard request.context.isComparable else { return .not(because: "it has settings of its own that can't be compared") }
        let changes = changes.withLock { $0 }
        var sent = request
        var users: [String] = []
        if let identity {
            guard let given = identity(request) else { return .not(because: "nobody knows whose it is") }
            users = [given]
        } else {
            switch try await call.owner.planned(request, for: call) {
            case .known(let planned, let identity): (sent, users) = (planned, identity.users)
            case .unknown(let interceptor):
                return .not(because: "\(interceptor) can't tell beforehand whose it will be")
            }
        }
        guard sent.headers.refused.isEmpty else { return .not(because: "it has a header that can't be sent") }
        for name in ignored { sent.headers.remove(name) }
        guard let key = CoalescingKey(sent, from: ObjectIdentifier(call.owner), after: changes, by: users) else {
            return .not(because: "its body won't be in memory")
        }
        return .with(key)
    }

    private func answer(
        to request: HTTPRequest, _ key: CoalescingKey, in call: Call, _ next: Next<HTTPRequest, HTTPResponse>
    ) async throws -> HTTPResponse {
        var position = next.position
        // That of an interceptor further out as well, which the arbiter keeps otherwise.
        position.limit(deadline: request.deadline)
        // On the client's stopwatch, which its calls have in common.
        let latest = position.timeLeft.map { call.owner.stopwatch.elapsedNanoseconds &+ $0.wholeNanoseconds } ?? .max
        let (answer, calls) = try await position.withinTimeLeft(phase: .maybeProcessed) { [flights] _ in
            try await flights.shared(key, until: latest) {
                let made = latest == .max ? call : call.branch(sharedUntil: { flights.latest(for: key) })
                return Answer(await Self.result(of: request, in: made, next), by: call, of: request.id)
            }
        }
        if calls > 1 {
            next.position.record(
                { .coalesced(calls: calls, isMade: answer.maker === call) }, about: request)
        }
        do {
            var response = try answer.result.get()
            response.request = response.request.belonging(to: request)
            return response
        } catch let error as HTTPError {
            // What an interceptor has asked for on its own behalf stays that.
            throw error.mapRequests { $0.id == answer.id ? $0.belonging(to: request) : $0 }
        }
    }

    /// The shared call, without the deadline of the caller that began it.
    private static func result(
        of request: HTTPRequest, in call: Call, _ next: Next<HTTPRequest, HTTPResponse>
    ) async -> Result<HTTPResponse, any Error> {
        var request = request
        // That of the request as well, or the arbiter would set one.
        if next.position.deadline != .max || request.deadline != nil { request.deadline = .unlimited }
        let next = next.at(ChainPosition(run: call, pass: next.position.pass))
        return await Result.of { [request] in
            try await ChainPosition.local.withValue(next.position) {
                var response = try await next(request)
                // An interceptor may have answered with a stream, which only one caller could read.
                try await next.position.deliver(&response)
                return response
            }
        }
    }
}

extension HTTPRequest {
    /// The request that was sent, with the parts of another caller's that differ.
    fileprivate func belonging(to request: HTTPRequest) -> HTTPRequest {
        guard id != request.id || deadline != request.deadline else { return self }
        var own = self
        own.id = request.id
        own.deadline = request.deadline
        return own
    }
}
