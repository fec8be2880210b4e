package import Foundation
internal import Interception

/// What belongs to one call. It travels with the run through the pipeline, not with its messages, which may outlive it.
package final class Call: BodyDecoderSource {
    /// Who made the call: the client.
    package let owner: any CallOwner
    /// The ``HTTPRequest/id`` of its request.
    package let requestID: HTTPRequest.ID
    /// Whether that may be sent twice, as the call was given it.
    let isRepeatable: Bool
    /// How its caller wants the response's body.
    package let delivery: BodyDelivery
    /// Whether this branch is a hedge.
    let isHedge: Bool
    /// The URL that was resolved and checked when the call began.
    package let checkedURL: String
    package let recorder: TraceRecorder?
    /// Makes the record of the call; nil when nobody observes it.
    package let observation: CallObservation?
    package let stopwatch: Stopwatch
    /// When it began, or the call that it is made on behalf of, in nanoseconds of the system's clock.
    package let beginning: Int64
    /// Nil when the call is meant; otherwise it is only asked what it would do.
    package let rehearsal: Rehearsal?
    /// Whose exchanges it may share, when it is made on behalf of another call that failed; nil for any other.
    package let sharing: (any ExchangeSharing)?
    /// Until when those can wait for it, on the client's stopwatch, for whom it, or the call that it is made on behalf of, is made, when these
    /// are several, whose deadlines don't end it; nil for any other. The largest number: without limit.
    let sharedUntil: (@Sendable () -> Int64?)?
    /// The bodies that this branch of the call has opened; nil when bodies are buffered.
    private let openBodies: OpenBodies?
    /// The present attempt, and the last one in which the server may have acted on the request; nil for one that may be sent twice.
    private let reach: Locked<(attempt: Int, lastReached: Int)>?

    /// - Parameter beginning: When the call began that this one belongs to; nil: that of `sharing`, or now.
    package init(
        owner: any CallOwner, requestID: HTTPRequest.ID, delivery: BodyDelivery, checkedURL: String, recorder: TraceRecorder?,
        isRepeatable: Bool = true, rehearsal: Rehearsal? = nil, sharing: (any ExchangeSharing)? = nil,
        observation: CallObservation? = nil, beginning: Int64? = nil
    ) {
        self.observation = observation
        self.owner = owner
        self.requestID = requestID
        self.isRepeatable = isRepeatable
        self.delivery = delivery
        isHedge = false
        self.checkedURL = checkedURL
        self.recorder = recorder
        self.rehearsal = rehearsal
        self.sharing = sharing
        sharedUntil = sharing?.call.sharedUntil
        stopwatch = owner.stopwatch.restarted()
        let start = stopwatch.start
        self.beginning = beginning ?? sharing?.call.beginning ?? start
        openBodies = delivery == .streamed ? OpenBodies(within: nil) : nil
        reach = isRepeatable ? nil : Locked((0, 0))
    }

    private init(_ call: Call, _ openBodies: OpenBodies?, isHedge: Bool, sharedUntil: (@Sendable () -> Int64?)?) {
        observation = call.observation
        owner = call.owner
        requestID = call.requestID
        isRepeatable = call.isRepeatable
        delivery = call.delivery
        self.isHedge = isHedge
        checkedURL = call.checkedURL
        recorder = call.recorder
        rehearsal = call.rehearsal
        sharing = call.sharing
        self.sharedUntil = sharedUntil
        stopwatch = call.stopwatch
        beginning = call.beginning
        self.openBodies = openBodies
        reach = call.reach
    }

    /// The client's.
    package var decoder: any BodyDecoder { owner.decoder }

    /// A part of the call that can be given up without the others; the call itself when no body is streamed and there is nothing else to
    /// tell them apart by.
    ///
    /// - Parameters:
    ///   - isApart: Whether it isn't given up with the call, unless that adopts it.
    ///   - latest: Until when all those can wait for whom it is made; the arbiter begins no wait that is too long for them.
    package func branch(
        asHedge: Bool = false, isApart: Bool = false, sharedUntil latest: (@Sendable () -> Int64?)? = nil
    ) -> Call {
        let isHedge = isHedge || asHedge
        guard openBodies != nil || isHedge != self.isHedge || latest != nil else { return self }
        return Call(
            self, openBodies.map { OpenBodies(within: isApart ? nil : $0) }, isHedge: isHedge, sharedUntil: latest ?? sharedUntil)
    }

    /// Makes a branch that was apart a part of this one, which is given up with it.
    package func adopt(_ branch: Call?) {
        if let opened = branch?.openBodies, opened !== openBodies { openBodies?.adopt(opened) }
    }

    /// Notes that a body is arriving.
    package func opened(_ body: HTTPBody) { openBodies?.add(body) }

    /// Closes what this branch has opened, whoever has wrapped it since.
    func giveUp() { openBodies?.close() }

    /// Notes which attempt a request is of that is about to be sent: none, where an interceptor has made it by itself.
    func noteSending(_ request: HTTPRequest) {
        reach?.withLock { $0.attempt = request.id == requestID ? request.attempt : 0 }
    }

    /// Notes how far that request has come. On one that was asked for credentials the server hasn't acted.
    func noteReach(_ phase: HTTPError.Phase, status: HTTPStatus?) {
        guard phase != .notSent, status != .unauthorized, status != .proxyAuthenticationRequired else { return }
        reach?.withLock { $0.lastReached = $0.attempt }
    }

    /// Whether the server may have acted on the request in an attempt, of which an interceptor may have sent it several times.
    func mayHaveActed(in attempt: Int) -> Bool { reach?.withLock { $0.lastReached == attempt } ?? false }

    /// The nanoseconds of the call's stopwatch at which a limit that begins now is over.
    package func due(in limit: Duration?) -> Int64 {
        guard let limit, limit < .longest else { return .max }
        return stopwatch.elapsedNanoseconds &+ max(.zero, limit).wholeNanoseconds
    }
}

/// What a call needs of the client that makes it.
package protocol CallOwner: ResendBudget {
    /// One on the client's clock, of which each call has a copy that starts with it.
    var stopwatch: Stopwatch { get }
    /// The time of day, which dates in messages are compared with.
    var now: @Sendable () -> Date { get }
    /// Gives numbers in 0...1.
    var random: @Sendable () -> Double { get }
    /// The origin of the base URL, which credentials are meant for unless they are given for others.
    var baseOrigin: OriginMatch? { get }
    /// Those of requests that have none themselves; nil: the client doesn't say.
    var limits: RequestLimits { get }
    /// What isn't shown of the call.
    var redaction: Redaction { get }
    /// What decodes bodies where nothing else is given.
    var decoder: any BodyDecoder { get }
    /// What is done for the client while nobody waits.
    var background: BackgroundWork { get }

    /// The name of one of those that speak within one pass of the pipeline, such as the validators that the arbiter asks.
    func speaker(_ number: Int, for request: HTTPRequest) -> String?

    /// Takes one retry from the budget; false when there is none.
    func takeRetry() -> Bool

    /// The request that the interceptors after stage `call` would make of one of a call, found without sending anything.
    func planned(_ request: HTTPRequest, for call: Call) async throws -> PlannedRequest

    /// Sends a request on behalf of a call that failed.
    func sendAlternate(_ request: HTTPRequest, of call: Call, sharing: any ExchangeSharing) async throws -> HTTPResponse
}

/// The bodies of a branch, and of those that are a part of it, that may still be arriving. Not kept alive.
final class OpenBodies: Sendable {
    private struct Entry: Sendable {
        weak var source: (any IncomingBody)?
    }

    private struct State: Sendable {
        var entries: [Entry] = []
        var enclosing: OpenBodies?
    }

    private let state: Locked<State>

    init(within enclosing: OpenBodies?) { state = Locked(State(enclosing: enclosing)) }

    /// How many it knows of, some of which may be gone.
    var count: Int { state.withLock { $0.entries.count } }

    func add(_ body: HTTPBody) {
        if let source = body.incoming { add(Entry(source: source)) }
    }

    private func add(_ entry: Entry) {
        // What is there is let go of outside of the lock: the last reference to a body closes it.
        let (enclosing, _) = state.withLock { state in
            var there: [any IncomingBody] = []
            // A call may go on and on: those that are gone make room before there is more of it.
            if state.entries.count == state.entries.capacity {
                there = state.entries.compactMap { $0.source }
                state.entries = there.map { Entry(source: $0) }
            }
            state.entries.append(entry)
            return (state.enclosing, there)
        }
        enclosing?.add(entry)
    }

    /// Makes what another one has, and what is yet added to it, a part of this.
    func adopt(_ other: OpenBodies) {
        let entries = other.state.withLock { state in
            state.enclosing = self
            return state.entries
        }
        for entry in entries { add(entry) }
    }

    func close() {
        let closed = state.withLock { state in
            defer { state.entries = [] }
            return state.entries
        }
        // The outermost of those that wrap each other first, whose reader would take the end of the inner one for a failure.
        for entry in closed.reversed() { entry.source?.close() }
    }
}
