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
    /// Counts up with each answer.
    let number: Int
    /// The answer that ends this one, and those behind it.
    private let ending = Locked<(request: WireRequest, response: HTTPResponse, next: AlternateAnswers)?>(nil)

    init(number: Int) { self.number = number }

    deinit {
        // One after the other: each would otherwise release the next within its own end, as deep as there are.
        var next = ending.withLock { $0.take() }?.next
        while isKnownUniquelyReferenced(&next) { next = next?.ending.withLock { $0.take() }?.next }
    }

    /// Notes the answer that ends this one, and begins the next.
    func end(with response: HTTPResponse, to request: WireRequest) -> AlternateAnswer {
        let next = AlternateAnswers(number: number + 1)
        ending.withLock { $0 = (request, response, next) }
        return AlternateAnswer(response: response, number: number, next: next)
    }

    /// The latest answer to a request from here on.
    func latest(to request: WireRequest) -> AlternateAnswer? {
        var latest: AlternateAnswer?
        var place: AlternateAnswers? = self
        while let current = place {
            let ending = current.ending.withLock { $0 }
            if let ending, ending.request == request {
                latest = AlternateAnswer(response: ending.response, number: current.number, next: ending.next)
            }
            place = ending?.next
        }
        return latest
    }
}
