/// The innermost part of a pipeline: one request to the transport, one response from it.
struct Exchange: Sendable {
    private let transport: any HTTPTransport

    private let isTimekeeping: Bool

    init(_ transport: any HTTPTransport) {
        self.transport = transport
        isTimekeeping = transport is any TimekeepingTransport
    }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let request = try checked(request.withinCall)
        try Task.checkCancellation()
        request.call?.closeOpenBodies()
        guard let left = request.timeLeft else { return try await deliver(request) }
        guard left > .zero else { throw HTTPError.timeout(progress: .notSent) }
        guard let stopwatch = request.call?.stopwatch, !keepsTime(of: request, stopwatch) else {
            return try await deliver(request)
        }
        let limit = TimeLimit(left, on: stopwatch.clock)
        return try await limit.run(error: { _ in .timeout() }) { try await deliver(request) }
    }

    /// Whether the transport itself ends the exchange in time, which saves a task for each.
    private func keepsTime(of request: HTTPRequest, _ stopwatch: Stopwatch) -> Bool {
        isTimekeeping && stopwatch.isOnSystemClock && request.delivery != .streamed
            && request.transferObserver?.watchesDownload != true
    }

    private func deliver(_ request: HTTPRequest) async throws -> HTTPResponse {
        if let observer = request.transferObserver { return try await deliver(request, observedBy: observer) }
        var response = try await transport.send(request)
        try await response.buffer(as: request.delivery)
        if request.delivery == .streamed { request.call?.opened(response.body) }
        return response
    }

    private func deliver(_ request: HTTPRequest, observedBy observer: TransferObserver) async throws -> HTTPResponse {
        var observed = request
        observed.body = observer.observing(sent: request.body)
        // Its arrival can be watched only while it arrives; it is collected here.
        if observer.watchesDownload { observed.delivery = .streamed }
        var response = try await transport.send(observed)
        response.request.body = request.body
        response.request.delivery = request.delivery
        response.body = observer.observing(received: response.body)
        try await response.buffer(as: request.delivery)
        if request.delivery == .streamed { request.call?.opened(response.body) }
        return response
    }

    /// Refuses what can't or mustn't go on the wire. The interceptors have had their say, so this is the last look.
    func checked(_ request: HTTPRequest) throws -> HTTPRequest {
        var request = request
        if let name = request.headers.refused.first {
            throw HTTPError(
                .invalidRequest,
                "The header \(name.rawValue.debugDescription) can't be sent: its name is no token or its value has a line break.",
                request: request, progress: .notSent)
        }
        guard request.method.rawValue.isToken else {
            throw HTTPError(
                .invalidRequest, "The method \(request.method.rawValue.debugDescription) is no token.", request: request,
                progress: .notSent)
        }
        if request.urlText != request.call?.checkedURL {
            request.urlText = try URLText.resolve(request.urlText, base: nil, query: nil)
            request.moveCredentialsToHeader()
        }
        if let type = request.body.contentType, !request.headers.contains(.contentType) { request.headers[.contentType] = type }
        if request.body.isSpent {
            throw HTTPError(
                .bodyNotReplayable, "The request would have to be sent again, and its body can be read only once.",
                request: request, progress: .notSent)
        }
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

/// A transport that ends a buffered exchange by itself when ``HTTPRequest/timeLeft`` is used up, with ``HTTPError/Code/timeout``.
package protocol TimekeepingTransport: HTTPTransport {}
