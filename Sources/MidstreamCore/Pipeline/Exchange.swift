internal import Interception

/// The end of a pipeline: one request to the transport, one response from it.
struct Exchange: Interceptor {
    private let transport: any HTTPTransport

    /// The same, when it can be told more than the request.
    private let informed: (any ExchangeTransport)?

    /// Who decides whose the pipeline's requests are.
    let identities: PipelineIdentities

    init(_ transport: any HTTPTransport, elements: [Pipeline.Element] = []) {
        self.transport = transport
        informed = transport as? any ExchangeTransport
        identities = PipelineIdentities(elements, transport)
    }

    /// The end of a pipeline of other elements.
    func ending(_ elements: [Pipeline.Element]) -> Exchange { Exchange(transport, elements: elements) }

    /// Whether a buffered exchange ends by itself when its time is over.
    var keepsTime: Bool { informed?.keepsTime == true }

    func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        guard !request.hasLateLimits else {
            return try await next.within(limitsOf: request) { try await self.intercept($0, next: $1) }
        }
        let position = next.position
        let call = position.call
        let request = try checked(request, of: call)
        try Task.checkCancellation()
        if let sharing = call?.sharing {
            return try await sharing.response(to: request) { try await self.exchange(request, call, position) }
        }
        return try await exchange(request, call, position)
    }

    nonisolated(nonsending)
        private func exchange(
            _ request: HTTPRequest, _ call: Call?, _ position: ChainPosition
        ) async throws -> HTTPResponse
    {
        let terms = try terms(for: request, call, position)
        if let left = terms.left, let call { return try await deliver(request, terms.options, call, within: left) }
        do {
            return try await deliver(request, terms.options, call)
        } catch {
            throw terms.endsWithDeadline ? Self.cause(of: error, in: call) : error
        }
    }

    /// How an exchange is carried out.
    private struct Terms {
        var options: ExchangeOptions
        /// Whether the transport's time is over when the call's deadline is.
        var endsWithDeadline = false
        /// The time that is kept here, since the transport doesn't; nil: none.
        var left: Duration?
    }

    /// Apart, as is whatever else is done while nobody waits: what it needs would be kept by all who do.
    @inline(never)
    private func terms(for request: HTTPRequest, _ call: Call?, _ position: ChainPosition) throws -> Terms {
        let delivery = request.isWatchedArriving ? .streamed : call?.delivery ?? .streamed
        var terms = Terms(options: ExchangeOptions(delivery: delivery, isChecked: true))
        if let call, call.isPunctual, call.deadline.duration != nil {
            (terms.options.timeLimit, terms.endsWithDeadline) = try Self.timeLimit(of: call, position)
        } else if let left = position.timeLeft, let stopwatch = call?.stopwatch {
            guard left > .zero else { throw HTTPError.timedOut(phase: .notSent).refusedHere }
            // The transport's own timer saves a task for each exchange.
            if keepsTime, stopwatch.isOnSystemClock, delivery != .streamed {
                terms.options.timeLimit = left
            } else {
                terms.left = left
            }
        }
        return terms
    }

    /// The attempt's time or that of a call whose deadline nobody else keeps, whichever is over first.
    private static func timeLimit(
        of call: Call, _ position: ChainPosition
    ) throws -> (limit: Duration, isDeadline: Bool) {
        let isDeadline = call.deadline.due <= position.due
        let left = min(call.deadline.due, position.due) - call.stopwatch.elapsedNanoseconds
        if left > 0 { return (.nanoseconds(left), isDeadline) }
        guard isDeadline else { throw HTTPError.timedOut(phase: .notSent).refusedHere }
        call.deadline.pass()
        throw CancellationError()
    }

    /// What a transport's timeout is to the call: its deadline, unless another of the transport's limits came first. Other errors are what
    /// they are.
    @inline(never)
    private static func cause(of error: any Error, in call: Call?) -> any Error {
        // It may count in whole milliseconds.
        guard (error as? HTTPError)?.code == .timeout, let call,
            call.stopwatch.elapsedNanoseconds &+ 1_000_000 >= call.deadline.due
        else { return error }
        call.deadline.pass()
        return CancellationError()
    }

    /// Apart, since a task of its own needs much that others shouldn't have to keep while they wait.
    @inline(never)
    private func deliver(
        _ request: HTTPRequest, _ options: ExchangeOptions, _ call: Call, within left: Duration
    ) async throws -> HTTPResponse {
        try await TimeLimit(left, on: call.stopwatch.clock).run(error: { _ in .timedOut() }) {
            try await deliver(request, options, call)
        }
    }

    nonisolated(nonsending)
        private func deliver(_ request: HTTPRequest, _ options: ExchangeOptions, _ call: Call?) async throws -> HTTPResponse
    {
        var response =
            if let informed { try await informed.send(request, options) } else { try await transport.send(request) }
        switch options.delivery {
        case .buffered(let limit): if response.body.bytes == nil { try await response.buffer(upTo: limit) }
        case .streamed: call?.opened(response.body)
        }
        return response
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
        try request.checkSendable(hasCheckedURL: isChecked)
        return request
    }
}

private enum ArrivalKey: RequestContextKey {
    static let defaultValue = false
}

extension HTTPRequest {
    /// Whether an interceptor wants to see the response's body while it arrives, although the caller wants it as a whole. Whoever
    /// hands the response on may leave collecting it to the client.
    package var isWatchedArriving: Bool {
        get { context[ArrivalKey.self] }
        set { context[ArrivalKey.self] = newValue }
    }
}
