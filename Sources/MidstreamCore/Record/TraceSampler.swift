/// An observer that may keep only a part of the traces that begin with a call.
package protocol TraceSampler: CallObserver {
    /// Whether it keeps this one, by the identifier alone, so that all parts of a trace fare alike; nil: it doesn't choose.
    func samples(_ trace: CallRecord.ID) -> Bool?
}
