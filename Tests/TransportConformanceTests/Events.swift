import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport

/// A thing that happens once and can be waited for by any number of tasks, also after it has happened.
final class Event: Sendable {
    private let state = Locked((hasHappened: false, waiters: [Int: CheckedContinuation<Void, Never>](), next: 0))

    func happen() {
        let waiters = state.withLock { state in
            state.hasHappened = true
            defer { state.waiters = [:] }
            return state.waiters.values
        }
        for waiter in waiters { waiter.resume() }
    }

    var hasHappened: Bool { state.withLock { $0.hasHappened } }

    /// Returns when it has happened or the task is cancelled.
    func wait() async {
        let id = state.withLock { state in
            state.next += 1
            return state.next
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let isOver = state.withLock { state in
                    guard !state.hasHappened, !Task.isCancelled else { return true }
                    state.waiters[id] = waiter
                    return false
                }
                if isOver { waiter.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: id) }?.resume()
        }
    }
}

/// Where a server or a body stops, and what it sees of who waits for it from then on.
struct Standstill: Sendable {
    /// The server has come there.
    let reached = Event()
    /// The client has left.
    let clientLeft = Event()

    /// Never returns before the client leaves.
    func wait() async {
        reached.happen()
        await Event().wait()
        clientLeft.happen()
    }

    /// A body of the given chunks, after which nothing comes.
    func body(after chunks: [[UInt8]] = []) -> HTTPBody { .once(stream(after: chunks)) }

    /// The given chunks, after which nothing comes.
    func stream(after chunks: [[UInt8]]) -> AsyncStream<[UInt8]> {
        let rest = Locked(chunks)
        return AsyncStream {
            if let chunk = rest.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { return chunk }
            await wait()
            return nil
        }
    }
}

/// Is true the first time it is asked.
struct FirstTime: Sendable {
    private let isFirst = Locked(true)

    func take() -> Bool { isFirst.lower() }
}

extension Locked<Int> {
    /// The number once it has ceased to grow. The system's buffers are filled first, and nothing tells when the last byte has
    /// found its place there.
    func settled() async throws -> Int {
        var last = 0
        while true {
            let now = withLock { $0 }
            if now == last, now > 0 { return now }
            last = now
            try await Task.sleep(for: .milliseconds(100))
        }
    }
}
