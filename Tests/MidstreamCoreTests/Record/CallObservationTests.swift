import Foundation
import Interception
import TestSupport
import Testing

@testable import MidstreamCore

/// Does something when it is told.
private final class Acting: CallObserver {
    let action = Locked<(@Sendable () -> Void)?>(nil)

    func happened(_ event: CallEvent, at time: Duration, in call: CallRecord.ID) { act() }
    func endedExchange(_ exchange: ExchangeRecord) { act() }

    private func act() {
        let action = action.withLock { $0 }
        action?()
    }
}

/// Writes down what it is told.
private final class Lines: CallObserver {
    let all = Locked<[String]>([])

    func happened(_ event: CallEvent, at time: Duration, in call: CallRecord.ID) { all.withLock { $0.append(event.name) } }
    func endedExchange(_ exchange: ExchangeRecord) { all.withLock { $0.append("exchange") } }
    func endedBody(_ end: HTTPBody.End, of exchange: ExchangeRecord) { all.withLock { $0.append("body") } }
    func endedCall(_ call: CallRecord) { all.withLock { $0.append("ended") } }
}

@Suite("The observation of a call", .leavesNothing)
struct CallObservationTests {
    /// What the second of two observers is told where the call ends while the first one is.
    private func told(_ tell: (CallObservation, HTTPRequest) -> Void) -> [String] {
        let (acting, lines, request) = (Acting(), Lines(), HTTPRequest("http://h/"))
        let observation = CallObservation(
            CallObservation.Settings([acting, lines], Redaction()), for: .own, at: Date(),
            on: Stopwatch(on: ContinuousClock()))
        acting.action.withLock { action in
            action = { [weak observation] in observation?.end(returning: HTTPResponse(status: .ok, request: request)) }
        }
        observation.begin(request)
        tell(observation, request)
        observation.happened(CallEvent("late", "nobody is told"))
        return lines.all.withLock { $0 }
    }

    @Test("tells of the end last, also where that comes while something else is told")
    func order() {
        let event = told { observation, _ in observation.happened(CallEvent("hedge", "another request")) }
        #expect(event == ["hedge", "ended"])
        let exchange = told { observation, request in
            var request = request
            observation.beginExchange(&request).end(throwing: HTTPError(.connection))
        }
        #expect(exchange == ["exchange", "ended"])
    }

    @Test("neither keeps nor tells what begins after the end, and gives no number twice")
    func late() {
        let lines = Lines()
        weak var released: CallObservation?
        do {
            var request = HTTPRequest("http://h/")
            let observation = CallObservation(
                CallObservation.Settings([lines], Redaction()), for: .own, at: Date(), on: Stopwatch(on: ContinuousClock()))
            released = observation
            observation.begin(request)
            observation.beginExchange(&request).end(throwing: HTTPError(.connection))
            observation.end(returning: HTTPResponse(status: .ok, request: request))
            let exchange = observation.beginExchange(&request)
            #expect(exchange.beginning.id.number == 2)
            var response = HTTPResponse(status: .ok, body: .incoming(ArrivingBody(), length: 5), request: request)
            exchange.end(&response) { $0 }
            response.body.close()
        }
        #expect(lines.all.withLock { $0 } == ["exchange", "ended"])
        #expect(released == nil)
    }
}
