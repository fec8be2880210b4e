import Interception
import MidstreamCore

/// Keeps the records of calls and of exchanges, as they end.
final class CallKeeper: CallObserver {
    private let kept = Locked((calls: [CallRecord](), exchanges: [ExchangeRecord]()))
    let keepsBodies = 1 << 20

    var calls: [CallRecord] { kept.withLock { $0.calls } }
    var exchanges: [ExchangeRecord] { kept.withLock { $0.exchanges } }
    func endedExchange(_ exchange: ExchangeRecord) { kept.withLock { $0.exchanges.append(exchange) } }
    func endedCall(_ call: CallRecord) { kept.withLock { $0.calls.append(call) } }
}
