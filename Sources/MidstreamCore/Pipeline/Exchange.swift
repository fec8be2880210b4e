/// The innermost part of a pipeline: one request to the transport, one response from it.
struct Exchange: Sendable {
    private let transport: any HTTPTransport

    /// The same, when it can be told more than the request.
    private let informed: (any ExchangeTransport)?

    init(_ transport: any HTTPTransport) {
        self.transport = transport
        informed = transport as? any ExchangeTransport
    }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let request = try checked(request.withinCall)
        try Task.checkCancellation()
        request.call?.closeOpenBodies()
        let observer = request.transferObserver
        let delivery = request.call?.delivery ?? .streamed
        // Its arrival can be watched only while it arrives; it is collected here.
        var options = ExchangeOptions(delivery: observer?.watchesDownload == true ? .streamed : delivery, isChecked: true)
        guard let left = request.timeLeft, let stopwatch = request.call?.stopwatch else {
            return try await deliver(request, options, as: delivery, observer)
        }
        guard left > .zero else { throw HTTPError.timeout(progress: .notSent) }
        // The transport's own timer saves a task for each exchange.
        if informed?.keepsTime == true, stopwatch.isOnSystemClock, options.delivery != .streamed {
            options.timeLimit = left
            return try await deliver(request, options, as: delivery, observer)
        }
        let limit = TimeLimit(left, on: stopwatch.clock)
        return try await limit.run(error: { _ in .timeout() }) { [options] in
            try await deliver(request, options, as: delivery, observer)
        }
    }

    private func deliver(
        _ request: HTTPRequest, _ options: ExchangeOptions, as delivery: BodyDelivery, _ observer: TransferObserver?
    ) async throws -> HTTPResponse {
        var sent = request
        if let observer { sent.body = observer.observing(sent: request.body) }
        var response =
            if let informed { try await informed.send(sent, options) } else { try await transport.send(sent) }
        if let observer {
            response.request.body = request.body
            response.body = observer.observing(received: response.body)
        }
        try await response.buffer(as: delivery)
        if delivery == .streamed { request.call?.opened(response.body) }
        return response
    }

    /// Refuses what can't or mustn't go on the wire. The interceptors have had their say, so this is the last look.
    func checked(_ request: HTTPRequest) throws -> HTTPRequest {
        var request = request
        if request.urlText != request.call?.checkedURL {
            request.urlText = try URLText.resolve(request.urlText, base: nil, query: nil)
            request.moveCredentialsToHeader()
        }
        if let type = request.body.contentType, !request.headers.contains(.contentType) { request.headers[.contentType] = type }
        try request.checkSendable()
        return request
    }
}

extension HTTPResponse {
    /// Takes the body into memory, if it is to be delivered like that and isn't there yet.
    mutating func buffer(as delivery: BodyDelivery) async throws {
        guard case .buffered(let limit) = delivery, body.bytes == nil else { return }
        let arriving = body
        body = .bytes(try await arriving.collect(upTo: limit))
        trailers = trailers ?? arriving.incoming?.trailers
        metrics = metrics ?? arriving.incoming?.metrics
    }
}
