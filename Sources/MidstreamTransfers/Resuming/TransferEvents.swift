internal import MidstreamCore

extension CallEvent {
    /// A download or an upload broke off, and is resumed.
    ///
    /// - Parameters:
    ///   - cause: What ended it: the code of an error, or a status.
    ///   - bytes: How many bytes are there; nil when that isn't known.
    static func transferInterruption(cause: String, bytes: Int64?) -> CallEvent {
        CallEvent(
            "transfer.interruption", "broke off\(bytes.map { " after \($0) bytes" } ?? ""): \(cause)",
            ["cause": .string(cause), "bytes": bytes.map { .integer($0) }])
    }

    /// A download or an upload resumes.
    ///
    /// - Parameters:
    ///   - offset: The first byte that is transferred.
    ///   - total: How many there are in all; nil when that isn't known.
    ///   - proof: What shows that it is still the same; nil for an upload.
    static func transferResumption(offset: Int64, total: Int64?, proof: String?) -> CallEvent {
        CallEvent(
            "transfer.resumption",
            "resumed at \(offset)\(total.map { " of \($0)" } ?? "") bytes\(proof.map { ", \($0)" } ?? "")",
            ["offset": .integer(offset), "total": total.map { .integer($0) }])
    }

    /// A download begins again, since the bytes that are there can't be used for this reason.
    static func transferRestart(reason: String) -> CallEvent {
        CallEvent("transfer.restart", "starts again: \(reason)", ["reason": .string(reason)])
    }
}
