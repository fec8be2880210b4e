package import Interception

/// The end of a pipeline: one request to the transport, one response from it.
struct Exchange: Interceptor {
    let transport: any HTTPTransport

    /// The same, when it can be told more than the request.
    private let informed: (any ExchangeTransport)?
    /// ``ExchangeTransport/remark``
    private let remark: String?

    /// The interceptors that may decide whose the pipeline's requests are, in their order.
    let personal: [(place: Int, interceptor: any HTTPInterceptor)]
    /// The place of the innermost that may give up answers; -1: there is none.
    let lastGivingUp: Int

    init(_ transport: any HTTPTransport, behind elements: [Pipeline.Element]) {
        self.transport = transport
        informed = transport as? any ExchangeTransport
        remark = informed?.remark
        personal = elements.enumerated().filter(\.element.isPersonal).map { ($0.offset, $0.element.interceptor) }
        lastGivingUp = elements.lastIndex { $0.interceptor.traits.contains(.givesUpAnswers) } ?? -1
    }

    func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        guard !request.hasLateLimits else {
            return try await next.within(limitsOf: request) { try await self.intercept($0, next: $1) }
        }
        let position = next.position
        let call = position.call
        let request = try checked(request, of: call)
        try Task.checkCancellation()
        if let call, let sharing = call.sharing { return try await shared(request, call, position, by: sharing) }
        return try await exchange(request, call, position)
    }

    /// An exchange that several calls may wait for: each as long as its own limits allow, which don't end it for the others. It has the time
    /// of one attempt for itself, so that one that hangs isn't waited for by ever more calls.
    @inline(never)
    private func shared(
        _ request: HTTPRequest, _ call: Call, _ position: ChainPosition, by sharing: any ExchangeSharing
    ) async throws -> HTTPResponse {
        try await position.withinTimeLeft(phase: .maybeProcessed) { _ in
            try await sharing.response(to: request) {
                var own = position.withoutDeadline
                own.timeout = call.due(in: request.limits.timeout ?? call.owner.limits.timeout)
                return try await exchange(request, call, own)
            }
        }
    }

    nonisolated(nonsending)
        private func exchange(
            _ request: HTTPRequest, _ call: Call?, _ position: ChainPosition
        ) async throws -> HTTPResponse
    {
        let terms = try terms(for: request, call, position)
        do {
            if let observation = call?.observation {
                return try await observed(request, terms, call, position, by: observation)
            }
            if terms.isInterrupted { return try await interruptedDelivery(request, terms.options, call, position) }
            return try await deliver(request, terms.options, call)
        } catch {
            let failure = Self.failure(error, of: request)
            throw position.due == .max ? failure : Self.cause(of: failure, at: position)
        }
    }

    /// Apart, so that what it needs isn't kept by those who wait unobserved.
    @inline(never)
    private func observed(
        _ request: HTTPRequest, _ terms: Terms, _ call: Call?, _ position: ChainPosition, by observation: CallObservation
    ) async throws -> HTTPResponse {
        var sent = request
        let exchange = observation.beginExchange(&sent, isHedge: call?.isHedge == true)
        do {
            var response =
                if terms.isInterrupted {
                    try await interruptedDelivery(sent, terms.options, call, position)
                } else {
                    try await deliver(sent, terms.options, call)
                }
            exchange.end(&response, causeOf: Self.causes(ofBodyFor: request, at: position))
            if response.body.bytes == nil { call?.opened(response.body) }
            return response
        } catch {
            let cause = Self.cause(of: Self.failure(error, of: request), at: position)
            exchange.end(throwing: cause)
            throw cause
        }
    }

    /// How an exchange is carried out.
    private struct Terms {
        var options: ExchangeOptions
        /// Whether it is interrupted here when its time is over, since the transport doesn't end it then.
        var isInterrupted = false
    }

    /// Apart, as is whatever else is done while nobody waits: what it needs would be kept by all who do.
    @inline(never)
    private func terms(for request: HTTPRequest, _ call: Call?, _ position: ChainPosition) throws -> Terms {
        let wanted = call?.delivery ?? .streamed
        let delivery = request.isWatchedArriving ? .streamed : wanted
        var terms = Terms(options: ExchangeOptions(delivery: delivery, isChecked: true))
        terms.options.isCollected = delivery != wanted
        if let remark, request.urlText.hasSecureScheme { position.note({ remark }, about: request) }
        // A body that is still arriving may outlive the client, and doesn't keep it.
        if delivery != .streamed { terms.options.budget = call?.owner }
        guard position.due != .max, let left = position.timeLeft, let call else { return terms }
        guard left > .zero else { throw position.overdue(phase: .notSent) }
        // The transport's own timer saves a task for each exchange, and tells a server that is too slow from a caller that leaves.
        if informed?.keepsTime == true, call.stopwatch.isOnSystemClock {
            terms.options.timeLimit = left
        } else {
            terms.isInterrupted = true
        }
        return terms
    }

    /// What the transport fails with is this call's, also where that sends by another client, whose limits are its own.
    private static func failure(_ error: any Error, of request: HTTPRequest) -> any Error {
        guard var failure = error as? HTTPError, failure.hasEndedCall else { return error }
        failure.hasEndedCall = false
        failure.request?.limits = request.limits
        return failure
    }

    /// The error of an exchange whose time is over: that of the limit which comes first.
    @inline(never)
    private static func cause(of error: any Error, at position: ChainPosition) -> any Error {
        if error is CancellationError { return position.cancelled(phase: .maybeProcessed) }
        let due = position.due
        // A transport that keeps the time may count in whole milliseconds. A timeout of its own that comes earlier stays one.
        guard position.deadline == due, let error = error as? HTTPError, error.code == .timeout, position.isOver(due &- 1_000_000)
        else { return error }
        // A connection that hangs until the deadline is no refusal on this side, although nothing was sent.
        var overdue = HTTPError.pastDeadline(.nanoseconds(due), phase: error.phase)
        if error.isRefusedHere { overdue = overdue.refusedHere }
        overdue.metrics = error.metrics
        return overdue
    }

    /// Gives the error that a body which is left arriving ends with. Who takes it into memory is cancelled when the time is over; a caller's own
    /// reading has no limit but a deadline that covers it. Keeps nothing of the call, whose client such a body may outlive.
    private static func causes(
        ofBodyFor request: HTTPRequest, at position: ChainPosition
    ) -> @Sendable (any Error) -> any Error {
        guard let call = position.call else { return { $0 } }
        var limits = position
        limits.run = nil
        if call.delivery == .streamed {
            limits.timeout = .max
            if !call.deadlineCoversBody(of: request) { limits.deadline = .max }
        }
        return { [limits, stopwatch = call.stopwatch] error in
            guard error is CancellationError, stopwatch.elapsedNanoseconds >= limits.due else { return error }
            return limits.overdue(phase: .answered)
        }
    }

    /// Apart, since a task of its own needs much that others shouldn't have to keep while they wait.
    @inline(never)
    private func interruptedDelivery(
        _ request: HTTPRequest, _ options: ExchangeOptions, _ call: Call?, _ position: ChainPosition
    ) async throws -> HTTPResponse {
        try await position.withinTimeLeft(phase: .maybeProcessed) { _ in try await deliver(request, options, call) }
    }

    nonisolated(nonsending)
        private func deliver(_ request: HTTPRequest, _ options: ExchangeOptions, _ call: Call?) async throws -> HTTPResponse
    {
        // The request isn't kept for the wait.
        call?.noteSending(request)
        do {
            var response =
                if let informed { try await informed.send(request, options) } else { try await transport.send(request) }
            call?.noteReach(.answered, status: response.status)
            switch options.delivery {
            case .buffered(let limit): if response.body.bytes == nil { try await Self.buffer(&response, upTo: limit) }
            case .streamed: Self.opened(response, call)
            }
            return response
        } catch {
            if let call { Self.failed(error, isStreamed: options.delivery == .streamed, call) }
            throw error
        }
    }

    /// Takes a body into memory. Where it can't, and the head may be enough, who needs the body gets the failure when reading it.
    @inline(never)
    nonisolated(nonsending)
        private static func buffer(_ response: inout HTTPResponse, upTo limit: Int) async throws
    {
        do {
            try await response.buffer(upTo: limit)
        } catch let error as HTTPError {
            response = try error.headAlone(of: response)
        }
    }

    /// Apart, to keep async frames small.
    @inline(never)
    private static func opened(_ response: HTTPResponse, _ call: Call?) {
        guard let call else { return }
        call.opened(response.body)
        charge(response.metrics, to: call)
    }

    /// Apart for the same reason.
    @inline(never)
    private static func failed(_ error: any Error, isStreamed: Bool, _ call: Call) {
        let error = error as? HTTPError
        call.noteReach(error?.phase ?? .maybeProcessed, status: nil)
        if isStreamed { charge(error?.metrics, to: call) }
    }

    /// Charges the budget with what a transport has sent again that wasn't given it.
    @inline(never)
    private static func charge(_ metrics: TransportMetrics?, to call: Call?) {
        if let resends = metrics?.resends, resends > 0 { call?.owner.count(resends: resends) }
    }

    /// Refuses what can't or mustn't go on the wire. The interceptors have had their say, so this is the last look.
    @inline(never)
    func checked(_ request: HTTPRequest, of call: Call?) throws -> HTTPRequest {
        var request = request
        let isChecked = request.urlText == call?.checkedURL
        if !isChecked {
            request.urlText = try URLText.resolve(request.urlText, base: nil, query: nil)
            request.moveCredentialsToHeader()
        }
        if let type = request.body.contentType, !request.headers.contains(.contentType) { request.headers[.contentType] = type }
        if let call, !call.isRepeatable { request.belongToUnrepeatableCall() }
        try request.checkSendable(hasCheckedURL: isChecked)
        return request
    }
}

private enum ArrivalKey: RequestContextKey { static let defaultValue = false }

extension HTTPRequest {
    /// Whether an interceptor wants to see the response's body while it arrives, although the caller wants it as a whole. Whoever
    /// hands the response on may leave collecting it to the client.
    package var isWatchedArriving: Bool {
        get { context[ArrivalKey.self] }
        set { context[ArrivalKey.self] = newValue }
    }
}

extension Next where Input == HTTPRequest, Output == HTTPResponse {
    /// The end of the pipeline; nil in a chain of its own within an interceptor, which doesn't see who comes behind it.
    var exchange: Exchange? { links.steps[links.steps.count - 1] as? Exchange }

    /// Whether an interceptor further in may give up answers, so that ``HTTPRequest/onGivenUp`` is of use.
    package var mayGiveUpAnswers: Bool { exchange.map { $0.lastGivingUp >= Int(index) } ?? true }
}
