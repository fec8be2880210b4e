internal import Foundation
internal import Interception
internal import MidstreamCore

/// The owner of a call that doesn't keep its client: with the client's clocks and limits, and without its retries.
private final class DetachedOwner: CallOwner {
    let stopwatch: Stopwatch
    let now: @Sendable () -> Date
    let random: @Sendable () -> Double
    let baseOrigin: OriginMatch?
    let limits: RequestLimits
    let redaction: Redaction
    let decoder: any BodyDecoder
    let background = BackgroundWork()

    init(_ owner: any CallOwner) {
        stopwatch = owner.stopwatch
        now = owner.now
        random = owner.random
        baseOrigin = owner.baseOrigin
        limits = owner.limits
        redaction = owner.redaction
        decoder = owner.decoder
    }

    func speaker(_ number: Int, for request: HTTPRequest) -> String? { nil }
    func takeRetry() -> Bool { false }
    func count(resends: Int) {}
    func planned(_ request: HTTPRequest, for call: Call) async throws -> PlannedRequest { .unknown("a released client") }
    func sendAlternate(_ request: HTTPRequest, of call: Call, sharing: any ExchangeSharing) async throws -> HTTPResponse {
        throw CancellationError()
    }
}

extension Interception.Next where Input == HTTPRequest, Output == HTTPResponse {
    /// The rest of the pipeline for a call of its own, without a deadline, which doesn't keep the client.
    ///
    /// - Parameter timeout: The request's; nil: the client's for one attempt.
    /// - Returns: The rest, and how long it may take.
    func detached(from call: Call, timeout: Duration?) -> (next: Self, limit: Duration?) {
        let limit = timeout ?? call.owner.limits.timeout
        let owner = DetachedOwner(call.owner)
        let own = Call(
            owner: owner, requestID: HTTPRequest.ID(), delivery: .streamed, checkedURL: call.checkedURL, recorder: nil,
            observation: call.observation?.serving(.revalidation, at: owner.now()), beginning: call.beginning)
        var next = self
        next.position = ChainPosition(run: own, timeout: own.due(in: limit))
        return (next, limit)
    }
}
