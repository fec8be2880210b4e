internal import Interception

/// Keeps interceptors from sending anything while they are asked what they would do, and writes down what they tried to send.
///
/// Holds for everything that the asked one does in its task and in tasks that it starts, whichever client it uses. A detached
/// task is out of reach, and so is whatever doesn't go through a client.
package struct Rehearsal: Sendable {
    private let refused = Locked<[String]>([])
    /// Whose a request will be by those further in than the one that is asked.
    package let identity: @Sendable (HTTPRequest) -> WireIdentity

    /// What was tried to be sent, in words; nil when nothing was.
    package var summary: String? {
        let refused = refused.withLock { $0 }
        return refused.isEmpty ? nil : "would send \(refused.joined(separator: ", "))"
    }

    /// Throws if what is at work in the present task is only asked what it would do.
    package static func refuse(_ request: HTTPRequest) throws {
        guard let rehearsal = ChainPosition.current?.call?.rehearsal else { return }
        rehearsal.refused.withLock { $0.append("\(request)") }
        throw HTTPError(
            .explaining, "An interceptor tried to send it while it was only asked what it would do.", request: request,
            phase: .notSent)
    }
}
