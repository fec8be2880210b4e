internal import Interception

/// Keeps interceptors from sending anything while they are asked what they would do, and writes down what they tried to send.
///
/// Holds for everything that the asked one does in its task and in tasks that it starts, whichever client it uses. A detached
/// task is out of reach, and so is whatever doesn't go through an ``HTTPClient``.
struct Rehearsal: Sendable {
    @TaskLocal private static var current: Rehearsal?

    private let refused = Locked<[String]>([])

    /// Asks an interceptor what it would do, and says what it would have sent to find out.
    static func plan(_ interceptor: any HTTPInterceptor, for request: inout HTTPRequest) async throws -> String? {
        let rehearsal = Rehearsal()
        var planned = request
        do {
            let note = try await $current.withValue(rehearsal) {
                // What is refused here mustn't fail a call that waits for the same.
                try await SoloFlight.$isDue.withValue(true) { try await interceptor.plan(&planned) }
            }
            request = planned
            return rehearsal.summary.map { [note, $0].compactMap { $0 }.joined(separator: "; ") } ?? note
        } catch {
            // Without an answer it may throw anything, and that says nothing about what it would do with one.
            guard let summary = rehearsal.summary, !(error is CancellationError) else { throw error }
            return "\(summary); what it would do then isn't known"
        }
    }

    private var summary: String? {
        let refused = refused.withLock { $0 }
        return refused.isEmpty ? nil : "would send \(refused.joined(separator: ", "))"
    }

    /// Throws if something is only being asked what it would do.
    static func refuse(_ request: HTTPRequest) throws {
        guard let current else { return }
        current.refused.withLock { $0.append("\(request)") }
        throw HTTPError(
            .explaining, "An interceptor tried to send it while it was only asked what it would do.", request: request,
            progress: .notSent)
    }
}
