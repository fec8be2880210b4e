internal import Interception
public import MidstreamCore
internal import MidstreamObservability

/// Hands everything to another observer in a task of its own, so that calls don't wait for a slow one.
///
/// What comes while the buffer is full is dropped and counted, except the end of a call or body that the wrapped observer has seen
/// something of: one that counts open calls sees each of them end. Order is kept. The task ends when the observer is released, after it
/// has handed over what it had.
///
/// ```swift
/// let buffered = BufferedObserver(SlowSink(), capacity: 2_048)
/// // … at the end of the process:
/// await buffered.flush()
/// ```
public final class BufferedObserver: CallObserver {
    private typealias Work = @Sendable () -> Void

    private struct State {
        var waiting = 0
        var dropped = 0
        /// Those of which something was taken, and that go on.
        var calls: Set<CallRecord.ID> = []
        var bodies: Set<ExchangeRecord.ID> = []
    }

    private let queue: AsyncStream<Work>.Continuation
    private let base: any CallObserver
    private let state = Locked(State())
    private let capacity: Int

    /// Wraps an observer.
    ///
    /// - Parameter capacity: How many calls of its methods may wait; 2,048 by default. Ends are taken beyond it.
    public init(_ base: any CallObserver, capacity: Int = 2_048) {
        self.base = base
        self.capacity = max(1, capacity)
        let (stream, queue) = AsyncStream.makeStream(of: Work.self)
        self.queue = queue
        Task.detached { for await work in stream { work() } }
    }

    deinit { queue.finish() }

    /// How many were dropped so far.
    public var dropped: Int { state.withLock { $0.dropped } }

    /// Returns when the wrapped observer has everything that was recorded before, even in a task that is cancelled, as it may be at the end of a
    /// program.
    public func flush() async {
        let flushed = Suspension<Void>()
        if case .terminated = queue.yield({ flushed.resume() }) { return }
        await flushed.value()
    }

    /// - Parameters:
    ///   - begins: Notes that something of a call or body is taken.
    ///   - ends: Notes that one ends; whether something of it was taken.
    private func add(
        _ observe: @escaping @Sendable (any CallObserver) -> Void, begins: (inout State) -> Void = { _ in },
        ends: (inout State) -> Bool = { _ in false }
    ) {
        let isAccepted = state.withLock { state in
            guard ends(&state) || state.waiting < capacity else {
                state.dropped += 1
                return false
            }
            begins(&state)
            state.waiting += 1
            return true
        }
        guard isAccepted else { return }
        queue.yield({ [base, state] in
            observe(base)
            state.withLock { $0.waiting -= 1 }
        })
    }

    /// What the wrapped one keeps.
    public var keepsBodies: Int { base.keepsBodies }
    /// Hands it on, within the distributed trace that the caller's task is part of.
    public func began(_ call: CallRecord.Start) {
        let parent = TraceParent.current
        add(
            { observer in TraceParent.$current.withValue(parent) { observer.began(call) } },
            begins: { $0.calls.insert(call.id) })
    }
    /// Hands it on.
    public func happened(_ event: CallEvent, at time: Duration, in call: CallRecord.ID) {
        add({ $0.happened(event, at: time, in: call) }, begins: { $0.calls.insert(call) })
    }
    /// Hands it on.
    public func endedExchange(_ exchange: ExchangeRecord) {
        add(
            { $0.endedExchange(exchange) },
            begins: {
                $0.calls.insert(exchange.call)
                if exchange.isBodyArriving { $0.bodies.insert(exchange.id) }
            })
    }
    /// Hands it on.
    public func endedBody(_ end: HTTPBody.End, of exchange: ExchangeRecord) {
        add({ $0.endedBody(end, of: exchange) }, ends: { $0.bodies.remove(exchange.id) != nil })
    }
    /// Hands it on.
    public func endedCall(_ call: CallRecord) { add({ $0.endedCall(call) }, ends: { $0.calls.remove(call.id) != nil }) }
}

extension BufferedObserver: TraceSampler {
    /// As the wrapped one does.
    package func samples(_ trace: CallRecord.ID) -> Bool? { (base as? any TraceSampler)?.samples(trace) }
}
