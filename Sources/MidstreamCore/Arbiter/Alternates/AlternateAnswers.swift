internal import Interception

/// An answer to an alternate, and when it came in the order of all.
struct AlternateAnswer: Sendable {
    let response: HTTPResponse
    let number: Int
    /// Those that came after it.
    let next: AlternateAnswers
}

/// The answers to alternates that came after some moment: each attempt holds those that are news to it.
///
/// Each answer ends one of these and begins the next, to which the older ones lead. So an answer lives as long as there are attempts
/// that began before it, and no longer.
final class AlternateAnswers: Sendable {
    private struct State {
        var end: (request: WireRequest, response: HTTPResponse)?
        var next: AlternateAnswers?
    }

    /// Counts up with each answer.
    let number: Int
    private let state = Locked(State())

    init(number: Int) { self.number = number }

    deinit {
        // One after the other: each would otherwise release the next within its own end, as deep as there are.
        var next = state.withLock { $0.next.take() }
        while isKnownUniquelyReferenced(&next) { next = next?.state.withLock { $0.next.take() } }
    }

    /// Notes the answer that ends this one, and begins the next.
    func end(with response: HTTPResponse, to request: WireRequest) -> AlternateAnswer {
        let next = AlternateAnswers(number: number + 1)
        state.withLock { state in
            state.end = (request, response)
            state.next = next
        }
        return AlternateAnswer(response: response, number: number, next: next)
    }

    /// The latest answer to a request from here on.
    func latest(to request: WireRequest) -> AlternateAnswer? {
        var latest: AlternateAnswer?
        var place: AlternateAnswers? = self
        while let current = place {
            let (end, next) = current.state.withLock { ($0.end, $0.next) }
            if let end, let next, end.request == request {
                latest = AlternateAnswer(response: end.response, number: current.number, next: next)
            }
            place = next
        }
        return latest
    }
}
