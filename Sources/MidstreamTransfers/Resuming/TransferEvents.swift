internal import MidstreamCore

extension CallEvent {
    /// A download or an upload broke off, as the code of an error or a status says, and is resumed.
    static func transferInterruption(cause: String, bytes: Int64?) -> CallEvent {
        CallEvent(
            "transfer.interruption", "broke off\(bytes.map { " after \($0) bytes" } ?? ""): \(cause)",
            ["cause": .string(cause), "bytes": bytes.map { .integer($0) }])
    }

    /// A download resumes, with a proof that it is still the same, or an upload does, without one.
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
