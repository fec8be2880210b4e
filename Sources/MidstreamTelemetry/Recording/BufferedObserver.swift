internal import Interception
public import MidstreamCore

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
    private enum Item: Sendable {
        case began(CallRecord.Start)
        case event(CallEvent, Duration, CallRecord.ID)
        case exchange(ExchangeRecord)
        case body(HTTPBody.End, ExchangeRecord)
        case call(CallRecord)
        case flush(Suspension<Void>)
    }

    private struct State {
        var waiting = 0
        var dropped = 0
        /// Those of which something was taken, and that go on.
        var calls: Set<CallRecord.ID> = []
        var bodies: Set<ExchangeRecord.ID> = []

        /// Whether it ends one of these.
        func isEnd(_ item: Item) -> Bool {
            switch item {
            case .call(let call): calls.contains(call.id)
            case .body(_, let exchange): bodies.contains(exchange.id)
            default: false
            }
        }

        mutating func take(_ item: Item) {
            waiting += 1
            switch item {
            case .began(let call): calls.insert(call.id)
            case .event(_, _, let call): calls.insert(call)
            case .exchange(let exchange):
                calls.insert(exchange.call)
                if exchange.isBodyArriving { bodies.insert(exchange.id) }
            case .body(_, let exchange): bodies.remove(exchange.id)
            case .call(let call): calls.remove(call.id)
            case .flush: break
            }
        }
    }

    private let items: AsyncStream<Item>.Continuation
    private let base: any CallObserver
    private let state = Locked(State())
    private let capacity: Int

    /// Wraps an observer.
    ///
    /// - Parameter capacity: How many calls of its methods may wait; 2,048 by default. Ends are taken beyond it.
    public init(_ base: any CallObserver, capacity: Int = 2_048) {
        self.base = base
        self.capacity = max(1, capacity)
        let (stream, items) = AsyncStream.makeStream(of: Item.self)
        self.items = items
        let state = state
        Task.detached {
            for await item in stream {
                switch item {
                case .began(let call): base.began(call)
                case .event(let event, let time, let call): base.happened(event, at: time, in: call)
                case .exchange(let exchange): base.endedExchange(exchange)
                case .body(let end, let exchange): base.endedBody(end, of: exchange)
                case .call(let call): base.endedCall(call)
                case .flush(let waiter):
                    waiter.resume()
                    continue
                }
                state.withLock { $0.waiting -= 1 }
            }
        }
    }

    deinit { items.finish() }

    /// How many were dropped so far.
    public var dropped: Int { state.withLock { $0.dropped } }

    /// Returns when the wrapped observer has everything that was recorded before, even in a task that is cancelled, as it may be at the end of a
    /// program.
    public func flush() async {
        let flushed = Suspension<Void>()
        if case .terminated = items.yield(.flush(flushed)) { return }
        await flushed.value()
    }

    private func add(_ item: Item) {
        let isAccepted = state.withLock { state in
            guard state.waiting < capacity || state.isEnd(item) else {
                state.dropped += 1
                return false
            }
            state.take(item)
            return true
        }
        if isAccepted { items.yield(item) }
    }

    /// What the wrapped one keeps.
    public var keepsBodies: Int { base.keepsBodies }
    /// Hands it on.
    public func began(_ call: CallRecord.Start) { add(.began(call)) }
    /// Hands it on.
    public func happened(_ event: CallEvent, at time: Duration, in call: CallRecord.ID) { add(.event(event, time, call)) }
    /// Hands it on.
    public func endedExchange(_ exchange: ExchangeRecord) { add(.exchange(exchange)) }
    /// Hands it on.
    public func endedBody(_ end: HTTPBody.End, of exchange: ExchangeRecord) { add(.body(end, exchange)) }
    /// Hands it on.
    public func endedCall(_ call: CallRecord) { add(.call(call)) }
}
