internal import Interception

/// The innermost part of a pipeline: one request to the transport, one response from it.
struct Exchange: Sendable {
    private let transport: any HTTPTransport

    /// The same, when it can be told more than the request.
    private let informed: (any ExchangeTransport)?

    init(_ transport: any HTTPTransport) {
        self.transport = transport
        informed = transport as? any ExchangeTransport
    }

    func send(_ request: HTTPRequest, at position: ChainPosition) async throws -> HTTPResponse {
        let call = position.call
        let request = try checked(request, of: call)
        try Task.checkCancellation()
        if let sharing = call?.sharing {
            return try await sharing.response(to: request) { try await self.exchange(request, call, position) }
        }
        return try await exchange(request, call, position)
    }

    private func exchange(_ request: HTTPRequest, _ call: Call?, _ position: ChainPosition) async throws -> HTTPResponse {
        let delivery = request.isWatchedArriving ? .streamed : call?.delivery ?? .streamed
        var options = ExchangeOptions(delivery: delivery, isChecked: true)
        var response: HTTPResponse
        if let left = position.timeLeft, let stopwatch = call?.stopwatch {
            guard left > .zero else { throw HTTPError.timeout(phase: .notSent) }
            // The transport's own timer saves a task for each exchange.
            if informed?.keepsTime == true, stopwatch.isOnSystemClock, delivery != .streamed {
                options.timeLimit = left
                response = try await deliver(request, options)
            } else {
                let limit = TimeLimit(left, on: stopwatch.clock)
                response = try await limit.run(error: { _ in .timeout() }) { [options] in
                    try await deliver(request, options)
                }
            }
        } else {
            response = try await deliver(request, options)
        }
        if case .streamed = delivery { call?.opened(response.body) }
        return response
    }

    private func deliver(_ request: HTTPRequest, _ options: ExchangeOptions) async throws -> HTTPResponse {
        var response =
            if let informed { try await informed.send(request, options) } else { try await transport.send(request) }
        if case .buffered(let limit) = options.delivery { try await response.buffer(upTo: limit) }
        return response
    }

    /// Refuses what can't or mustn't go on the wire. The interceptors have had their say, so this is the last look.
    func checked(_ request: HTTPRequest, of call: Call?) throws -> HTTPRequest {
        var request = request
        if request.urlText != call?.checkedURL {
            request.urlText = try URLText.resolve(request.urlText, base: nil, query: nil)
            request.moveCredentialsToHeader()
        }
        if let type = request.body.contentType, !request.headers.contains(.contentType) { request.headers[.contentType] = type }
        try request.checkSendable()
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
