internal import Foundation
internal import Interception
internal import MidstreamCore

/// The last calls, numbered from 1, as the live page shows them.
final class RecentCalls: Sendable {
    private struct State {
        /// A ring: the call with the number n is at n − 1 modulo its size.
        var calls: [CallRecord?]
        /// How many there have been.
        var count = 0
    }

    private let state: Locked<State>
    private let title: String
    private let redaction: Redaction?
    private let made = Date()

    init(keeping count: Int, title: String, redaction: Redaction?) {
        state = Locked(State(calls: Array(repeating: nil, count: max(1, count))))
        self.title = title
        self.redaction = redaction
    }

    func add(_ call: CallRecord) {
        // The one that makes room is released outside the lock.
        _ = state.withLock { state in
            let place = state.count % state.calls.count
            let oldest = state.calls[place]
            state.calls[place] = call
            state.count += 1
            return oldest
        }
    }

    /// Those with higher numbers that are still there, and the number of the first.
    private func after(_ number: Int) -> (first: Int, calls: [CallRecord], limit: Int) {
        state.withLock { state in
            let limit = state.calls.count
            let start = max(0, min(number, state.count), state.count - limit)
            return (start + 1, (start..<state.count).compactMap { state.calls[$0 % limit] }, limit)
        }
    }

    func page() -> String {
        let (first, calls, limit) = after(0)
        return CallReport(calls.map(reported), title: title, made: made, live: .init(first: first, limit: limit)).html()
    }

    /// Server-sent events with those that have higher numbers; `number` becomes that of the last.
    func events(after number: inout Int) -> String {
        let (first, calls, _) = after(number)
        number = first + calls.count - 1
        var text = ""
        for (place, call) in calls.enumerated() { text += "id: \(first + place)\ndata: \(reported(call).json.text)\n\n" }
        return text
    }

    private func reported(_ call: CallRecord) -> ReportedCall {
        ReportedCall(call, since: made, redaction: redaction ?? call.redaction)
    }
}
