/// Something that asks a service which others share, and decides by itself while that doesn't answer.
package protocol Degradable: Sendable {
    /// Why decisions are local at present; nil: they aren't.
    var degradation: String? { get }
}

extension CallEvent {
    /// A decision about the call, such as "the quota", was made without the service that others share.
    package static func degraded(_ what: String, because reason: String) -> CallEvent {
        CallEvent("fleet.degraded", "\(what) is decided locally: \(reason)", ["what": .string(what), "reason": .string(reason)])
    }
}
