internal import Interception
internal import MidstreamCore

/// What happens in a race, for the task that waits for it.
struct RaceEvents: Sendable {
    typealias Ending = Result<HTTPResponse, any Error>

    enum Event: Sendable {
        /// The first has taken long enough.
        case isLate
        case ended(isSecond: Bool, Ending)
    }

    private struct State {
        var first: Ending?
        var second: Ending?
        var isLate = false
        var waiter: UnsafeContinuation<Event, Never>?

        /// The results before the time, since they make it of no interest.
        mutating func take() -> Event? {
            if let result = first {
                first = nil
                return .ended(isSecond: false, result)
            }
            if let result = second {
                second = nil
                return .ended(isSecond: true, result)
            }
            guard isLate else { return nil }
            isLate = false
            return .isLate
        }
    }

    private let state = Locked(State())

    /// Tells that the first has taken long enough.
    func isLate() { tell { $0.isLate = true } }

    /// Tells what an exchange has come to.
    func ended(isSecond: Bool, _ result: Ending) {
        tell { state in
            if isSecond { state.second = result } else { state.first = result }
        }
    }

    /// What has happened and wasn't taken yet.
    func takeAtOnce() -> Event? { state.withLock { $0.take() } }

    /// Waits until something happens. One task does, and doesn't hear of its cancellation: the exchanges do, and end.
    func next() async -> Event {
        if let event = takeAtOnce() { return event }
        return await withUnsafeContinuation { continuation in
            let event = state.withLock { state -> Event? in
                if let event = state.take() { return event }
                state.waiter = continuation
                return nil
            }
            if let event { continuation.resume(returning: event) }
        }
    }

    private func tell(_ change: (inout State) -> Void) {
        let told = state.withLock { state -> (UnsafeContinuation<Event, Never>, Event)? in
            change(&state)
            guard let waiter = state.waiter, let event = state.take() else { return nil }
            state.waiter = nil
            return (waiter, event)
        }
        if let (waiter, event) = told { waiter.resume(returning: event) }
    }
}
