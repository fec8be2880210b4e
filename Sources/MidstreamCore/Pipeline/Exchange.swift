internal import Interception

/// The end of a pipeline: one request to the transport, one response from it.
struct Exchange: Interceptor {
    private let transport: any HTTPTransport

    /// The same, when it can be told more than the request.
    private let informed: (any ExchangeTransport)?

    init(_ transport: any HTTPTransport) {
        self.transport = transport
        informed = transport as? any ExchangeTransport
    }

    /// Whether a buffered exchange ends by itself when its time is over.
    var keepsTime: Bool { informed?.keepsTime == true }

    @inline(__always)
    func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
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
        let delivery = request.isWatchedArriving ? .streamed : call?.delivery ?? .streamed
        var options = ExchangeOptions(delivery: delivery, isChecked: true)
        var isDeadline = false
        if let call, call.isPunctual, call.deadline.duration != nil {
            (options.timeLimit, isDeadline) = try Self.timeLimit(of: call, position)
        } else if let left = position.timeLeft, let stopwatch = call?.stopwatch {
            guard left > .zero else { throw HTTPError.timeout(phase: .notSent) }
            // The transport's own timer saves a task for each exchange.
            if keepsTime, stopwatch.isOnSystemClock, delivery != .streamed {
                options.timeLimit = left
            } else {
                return try await deliver(request, options, call, within: TimeLimit(left, on: stopwatch.clock))
            }
        }
        do {
            return try await deliver(request, options, call)
        } catch {
            throw isDeadline ? Self.cause(of: error, in: call) : error
        }
    }

    /// The attempt's time or that of a call whose deadline nobody else keeps, whichever is over first.
    private static func timeLimit(
        of call: Call, _ position: ChainPosition
    ) throws -> (limit: Duration, isDeadline: Bool) {
        let isDeadline = call.deadline.due <= position.due
        let left = min(call.deadline.due, position.due) - call.stopwatch.elapsedNanoseconds
        if left > 0 { return (.nanoseconds(left), isDeadline) }
        guard isDeadline else { throw HTTPError.timeout(phase: .notSent) }
        call.deadline.pass()
        throw CancellationError()
    }

    /// What a transport's timeout is to the call: its deadline, unless another of the transport's limits came first.
    ///
    /// Apart, since what it needs all exchanges would have to keep while they wait.
    @inline(never)
    private static func cause(of error: any Error, in call: Call?) -> any Error {
        guard let timeout = error as? HTTPError, timeout.code == .timeout else { return error }
        // It may count in whole milliseconds.
        guard let call, call.stopwatch.elapsedNanoseconds &+ 1_000_000 >= call.deadline.due else { return timeout }
        call.deadline.pass()
        return CancellationError()
    }

    /// Apart, since a task of its own needs much that others shouldn't have to keep while they wait.
    private func deliver(
        _ request: HTTPRequest, _ options: ExchangeOptions, _ call: Call?, within limit: TimeLimit
    ) async throws -> HTTPResponse {
        try await limit.run(error: { _ in .timeout() }) { try await deliver(request, options, call) }
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
