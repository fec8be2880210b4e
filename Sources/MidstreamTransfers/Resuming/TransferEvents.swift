public import MidstreamCore

extension CallEvents {
    /// A download or an upload has broken off, and is gone on with.
    public struct TransferInterruption: CallEvent, Hashable {
        /// `transfer.interruption`
        public static let name = "transfer.interruption"
        /// What ended it: the code of an error, or a status.
        public let cause: String
        /// How many bytes are there; nil when that isn't known.
        public let bytes: Int64?

        /// `cause`, `bytes`
        public var attributes: [String: EventValue] {
            bytes.map { ["cause": .string(cause), "bytes": .integer($0)] } ?? ["cause": .string(cause)]
        }
        /// Such as `broke off after 50000 bytes: connectionLost`.
        public var description: String { "broke off\(bytes.map { " after \($0) bytes" } ?? ""): \(cause)" }
    }

    /// A download or an upload goes on where it was.
    public struct TransferResumption: CallEvent, Hashable {
        /// `transfer.resumption`
        public static let name = "transfer.resumption"
        /// The first byte that is transferred.
        public let offset: Int64
        /// How many there are in all; nil when that isn't known.
        public let total: Int64?
        /// What shows that it is still the same; nil for an upload.
        public let proof: String?

        /// `offset`, `total`
        public var attributes: [String: EventValue] {
            total.map { ["offset": .integer(offset), "total": .integer($0)] } ?? ["offset": .integer(offset)]
        }
        /// Such as `resumed at 50000 of 200000 bytes, If-Range matched`.
        public var description: String {
            "resumed at \(offset)\(total.map { " of \($0)" } ?? "") bytes\(proof.map { ", \($0)" } ?? "")"
        }
    }

    /// A download begins again, since what is there can't be used.
    public struct TransferRestart: CallEvent, Hashable {
        /// `transfer.restart`
        public static let name = "transfer.restart"
        /// Why.
        public let reason: String

        /// `reason`
        public var attributes: [String: EventValue] { ["reason": .string(reason)] }
        /// Such as `starts again: the answer is the whole`.
        public var description: String { "starts again: \(reason)" }
    }
}
