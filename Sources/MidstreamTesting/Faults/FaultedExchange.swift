internal import MidstreamCore

/// An exchange in which something goes wrong, as its client sees it.
struct FaultedExchange: Sendable {
    let fault: Fault
    let clock: any Clock<Duration>
    let random: SimulatedRandom

    /// Runs it.
    ///
    /// - Parameter answer: What would be answered; not asked when the fault keeps the request from the server.
    func run(
        _ request: HTTPRequest, _ answer: () async throws -> HTTPResponse
    ) async throws -> HTTPResponse {
        switch fault {
        case .status(let status): return HTTPResponse(status: status, request: request)
        case .error(let code): throw error(code, request, phase: fault.isBeforeSending ? .notSent : .maybeProcessed)
        case .stall(.beforeHead), .stall(.insideHead): try await Silence().last()
        case .disconnect(.afterResponse), .reset(.afterResponse), .stall(.afterResponse): return try await answer()
        default: break
        }
        var response = try await answer()
        // Without a body the message is complete at the end of the head (RFC 9112 §6.3).
        let isBodiless = request.method == .head || response.status == .noContent || response.status == .notModified
        if isBodiless, fault.breaksBody { return response }
        let (body, length) = (response.body, response.body.length)
        switch fault {
        case .delay(let time):
            do {
                try await clock.pause(for: time.time(random))
            } catch {
                body.close()
                throw error
            }
        case .disconnect(.insideBody(let count)), .reset(.insideBody(let count)):
            response.body = body.faulty(length: length, upTo: count, then: .loss, on: clock)
        case .stall(.insideBody(let count)):
            response.body = body.faulty(length: length, upTo: count, then: .silence, on: clock)
        case .throttle(let rate):
            let rate = max(1, rate)
            response.body = body.faulty(
                length: length, slices: max(1, rate / 10), pause: .seconds(1) / rate, then: .end, on: clock)
        case .dribble(let delay):
            response.body = body.faulty(length: length, slices: 1, pause: delay, then: .end, on: clock)
        case .wrongContentLength(let declared):
            response.body = body.faulty(
                length: Int64(declared), upTo: declared, then: .end, ifShorter: .loss, on: clock)
        case .truncatedChunk: response.body = body.faulty(length: nil, then: .loss, on: clock)
        case .garbage, .oversizeHead:
            body.close()
            throw error(.protocolViolation, request, phase: .maybeProcessed)
        case .disconnect, .reset, .stall, .status, .error:
            body.close()
            throw error(.connectionLost, request, phase: .maybeProcessed)
        }
        return response
    }

    private func error(_ code: HTTPError.Code, _ request: HTTPRequest, phase: HTTPError.Phase) -> HTTPError {
        HTTPError(code, "Injected: \(fault.summary).", request: request, phase: phase)
    }
}

extension Fault {
    /// Whether the head comes as it is, and not all of the body does.
    fileprivate var breaksBody: Bool {
        switch self {
        case .disconnect(.insideBody), .reset(.insideBody), .stall(.insideBody), .wrongContentLength, .truncatedChunk: true
        default: false
        }
    }

    /// Whether it can only be met before the first byte has left.
    var isBeforeSending: Bool {
        guard case .error(let code) = self else { return false }
        return switch code {
        case .connection, .nameResolution, .tls, .proxy, .invalidRequest: true
        default: false
        }
    }
}
