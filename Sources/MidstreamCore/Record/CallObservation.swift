package import Foundation
internal import Interception

/// Makes the record of one call and shows it to the observers of its client.
package final class CallObservation: Sendable {
    private struct State {
        var request: RequestLine?
        var isOver = false
        /// In the order of their numbers.
        var exchanges: [Exchange] = []
        var exchangeCount = 0
        var events: [(event: CallEvent, time: Int64)] = []
        var keptBytes = 0
        var recorder: TraceRecorder?
        /// The events that ask for another exchange, which hasn't begun.
        var causes: [CallEvent] = []
        /// How many tasks are notifying observers.
        var telling = 0
        /// The record of the end, which the last of them reports.
        var untold: CallRecord?
    }

    /// What the record needs of the request, whose body isn't kept.
    private struct RequestLine {
        let id: HTTPRequest.ID
        let method: HTTPMethod
        let url: String
        let route: String?
    }

    private enum Exchange {
        case underWay(ExchangeObservation)
        case ended(ExchangeRecord)
    }

    /// What the observations of a client share.
    package final class Settings: Sendable {
        let observers: [any CallObserver]
        let samplers: [any TraceSampler]
        /// How many bytes of each body to keep: as many as anyone wants. Each is then given as many as it wants.
        let keepsBodies: Int
        /// How many of these an error's record has.
        let keepsInErrors: Int
        /// How many bytes of the bodies of a whole call.
        let keptPerCall: Int
        let source: RecordSource

        package init(_ observers: [any CallObserver], _ redaction: Redaction, keepsInErrors: Int = 0) {
            self.observers = observers
            samplers = observers.compactMap { $0 as? any TraceSampler }
            self.keepsInErrors = keepsInErrors
            keepsBodies = observers.reduce(keepsInErrors) { max($0, $1.keepsBodies) }
            // Who wants all of each body says `.max`.
            keptPerCall = max(256 << 10, 4 * min(keepsBodies, Int.max / 4))
            source = RecordSource(redaction)
        }
    }

    /// More exchanges and events aren't kept, so that endless retries can't fill the memory.
    private static let maximum = 2_000

    package let id = CallRecord.ID.unique()
    let settings: Settings
    private let purpose: CallRecord.Purpose
    private let servedCall: CallRecord.ID?
    private let stopwatch: Stopwatch
    private let date: Date
    private let state = Locked(State())

    package init(
        _ settings: Settings, for purpose: CallRecord.Purpose, serving served: CallObservation? = nil, at date: Date,
        on stopwatch: Stopwatch
    ) {
        self.settings = settings
        self.purpose = purpose
        servedCall = served?.id
        self.stopwatch = stopwatch.restarted()
        self.date = date
    }

    /// Whether an observer keeps the trace that begins with the call; true without any that choose.
    package var isSampled: Bool {
        let choices = settings.samplers.compactMap { $0.samples(id) }
        return choices.isEmpty || choices.contains(true)
    }

    /// The observation of a call that is made for this one.
    package func serving(_ purpose: CallRecord.Purpose, at date: Date) -> CallObservation {
        CallObservation(settings, for: purpose, serving: self, at: date, on: stopwatch)
    }

    /// The call begins. It may begin once more when its request couldn't be completed.
    package func begin(_ request: HTTPRequest) {
        let isFirst = state.withLock { state in
            guard state.request == nil else { return false }
            state.request = RequestLine(id: request.id, method: request.method, url: request.urlText, route: request.route)
            return true
        }
        guard isFirst else { return }
        let start = CallRecord.Start(id: id, purpose: purpose, servedCall: servedCall, date: date, request: request)
        for observer in settings.observers { observer.began(start) }
    }

    /// The call goes through the pipeline, where its passes are recorded.
    func trace(by recorder: TraceRecorder?) { state.withLock { $0.recorder = recorder } }

    package func happened(_ event: CallEvent) {
        let time = stopwatch.elapsedNanoseconds
        let event = settings.source.redaction.own(event, event.description)
        let isOver = state.withLock { state in
            if state.isOver { return true }
            if state.events.count < Self.maximum { state.events.append((event, time)) }
            if event.asksForExchange, state.causes.count < Self.maximum { state.causes.append(event) }
            state.telling += 1
            return false
        }
        guard !isOver else { return }
        for observer in settings.observers { observer.happened(event, at: .nanoseconds(time), in: id) }
        endTelling()
    }

    /// The observers have been told of something. Of the end of a call, which another task may have come to meanwhile, they are told last.
    private func endTelling() {
        let ended = state.withLock { state -> CallRecord? in
            state.telling -= 1
            guard state.telling == 0 else { return nil }
            return state.untold.take()
        }
        if let ended { tellEnd(ended) }
    }

    private func tellEnd(_ call: CallRecord) {
        for observer in settings.observers { observer.endedCall(call.keeping(bodies: observer.keepsBodies)) }
    }

    // MARK: Exchanges

    /// A request goes to the transport.
    func beginExchange(_ request: inout HTTPRequest, isHedge: Bool = false) -> ExchangeObservation {
        let time = stopwatch.elapsedNanoseconds
        return state.withLock { state in
            let number = state.exchangeCount + 1
            // Another exchange of the call may begin before the one that was asked for, which may wait, or be refused.
            let place = state.causes.lastIndex { $0.asksForExchange(ofAttempt: request.attempt, isHedge: isHedge) }
            let cause = place.map { state.causes.remove(at: $0).name }
            let beginning = ExchangeRecord.Beginning(
                id: ExchangeRecord.ID(call: id, number: number), attempt: request.attempt,
                cause: number == 1 ? "first" : cause ?? "repeat", date: date.addingTimeInterval(Double(time) / 1e9),
                start: .nanoseconds(time), method: request.method, url: request.urlText, route: request.route,
                requestHeaders: request.headers, source: settings.source)
            let exchange = ExchangeObservation(beginning, of: self, keeping: &request.body)
            state.exchangeCount = number
            // The record of a call that is over is made, although it may still send for others that share it.
            if !state.isOver, number <= Self.maximum { state.exchanges.append(.underWay(exchange)) }
            return exchange
        }
    }

    var elapsed: Duration { .nanoseconds(stopwatch.elapsedNanoseconds) }

    /// The transport returned or threw.
    ///
    /// - Returns: Whether that is told; not after the end of the call.
    @discardableResult
    func ended(_ exchange: ExchangeRecord) -> Bool {
        for event in exchange.outcome.metrics?.events ?? [] { happened(event) }
        let isOver = state.withLock { state in
            if state.isOver { return true }
            keep(exchange, &state)
            state.telling += 1
            return false
        }
        guard !isOver else { return false }
        for observer in settings.observers { observer.endedExchange(exchange.keeping(bodies: observer.keepsBodies)) }
        endTelling()
        return true
    }

    /// A streamed body has ended, perhaps after the call.
    func ended(_ end: HTTPBody.End, of exchange: ExchangeRecord) {
        state.withLock { state in if !state.isOver { keep(exchange, &state) } }
        for observer in settings.observers { observer.endedBody(end, of: exchange.keeping(bodies: observer.keepsBodies)) }
    }

    /// Keeps a record for that of the call.
    private func keep(_ exchange: ExchangeRecord, _ state: inout State) {
        let place = exchange.number - 1
        guard place < state.exchanges.count else { return }
        if case .ended(let former) = state.exchanges[place] { state.keptBytes -= former.keptBytes }
        let isKept = state.keptBytes + exchange.keptBytes <= settings.keptPerCall
        let kept = isKept ? exchange : exchange.keeping(bodies: 0)
        state.keptBytes += kept.keptBytes
        state.exchanges[place] = .ended(kept)
    }

    // MARK: The end

    package func end(returning response: HTTPResponse) {
        end(status: response.status, error: nil, failure: nil)
    }

    /// Returns the error with the record of the call.
    package func end(throwing error: any Error, of request: HTTPRequest) -> any Error {
        begin(request)
        let failure = error as? HTTPError
        let record = end(status: failure?.response?.status, error: error.kind, failure: TraceRecorder.text(of: error))
        guard var failure, let record else { return error }
        failure.call = record.keeping(bodies: settings.keepsInErrors)
        return failure
    }

    @discardableResult
    private func end(status: HTTPStatus?, error: String?, failure: String?) -> CallRecord? {
        let duration = elapsed
        let ended = state.withLock { state -> State? in
            guard !state.isOver else { return nil }
            var ended = State(isOver: true, exchangeCount: state.exchangeCount, telling: state.telling)
            swap(&ended, &state)
            return ended
        }
        guard let ended, let request = ended.request else { return nil }
        let call = CallRecord(
            CallRecord.Contents(
                id: id, requestID: request.id, purpose: purpose, servedCall: servedCall, start: date, duration: duration,
                method: request.method, url: request.url, route: request.route, status: status, error: error, failure: failure,
                exchanges: exchanges(of: ended),
                events: ended.events.map { Trace.Event($0.event, at: UInt64(clamping: $0.time)) },
                source: settings.source, trace: Trace(ended.recorder)))
        let isTelling = state.withLock { state in
            if state.telling > 0 { state.untold = call }
            return state.telling > 0
        }
        if !isTelling { tellEnd(call) }
        return call
    }

    /// The exchanges of a call that has ended. One that is still under way, as that of a hedge that has lost may be, ends here.
    private func exchanges(of ended: State) -> [ExchangeRecord] {
        ended.exchanges.map { exchange in
            switch exchange {
            case .ended(let record): return record
            case .underWay(let observation):
                let record = observation.abandoned
                for observer in settings.observers { observer.endedExchange(record.keeping(bodies: observer.keepsBodies)) }
                return record
            }
        }
    }
}

extension HTTPError {
    /// The record of the call that failed, where its client makes one: it has observers, or keeps capsules.
    public var callRecord: CallRecord? { call as? CallRecord }
}

extension Error {
    /// The kind of failure, as records name it.
    var kind: String {
        if let error = self as? HTTPError { return error.code.rawValue }
        return self is CancellationError ? "cancelled" : "\(type(of: self))"
    }
}

extension CallEvent {
    /// Whether another exchange follows.
    fileprivate var asksForExchange: Bool {
        switch name {
        case "retry", "redirect": true
        case "hedge": attributes["sent"] == true
        case "credential": attributes["status"] != nil && attributes["action"] != "refreshed in vain"
        default: false
        }
    }

    /// Whether, if it asks for one, it may be this exchange.
    fileprivate func asksForExchange(ofAttempt attempt: Int, isHedge: Bool) -> Bool {
        switch name {
        case "retry": attributes["attempt"] == .count(attempt - 1)
        case "hedge": isHedge
        default: true
        }
    }
}
