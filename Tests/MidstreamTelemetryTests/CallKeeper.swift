import Interception
import MidstreamCore

/// Keeps the records of calls.
final class CallKeeper: CallObserver {
    private let kept = Locked<[CallRecord]>([])

    var calls: [CallRecord] { kept.withLock { $0 } }
    var keepsBodies: Int { 1 << 16 }
    func endedCall(_ call: CallRecord) { kept.withLock { $0.append(call) } }
}
