/// An observer that keeps a part of the traces that begin with a call.
package protocol TraceSampler: CallObserver {
    /// Whether it keeps this one, by the identifier alone, so that all parts of a trace fare alike.
    func samples(_ trace: CallRecord.ID) -> Bool
}
