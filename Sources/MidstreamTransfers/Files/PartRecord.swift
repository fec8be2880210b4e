/// What is known of a file that isn't complete, kept beside it for the next process.
struct PartRecord: Codable, Equatable, Sendable {
    /// Of what it is, without the secrets that URLs carry and what presigning adds.
    var url: String
    /// What must be unchanged for a request for the rest.
    var validator: StrongValidator
    /// How many bytes it will have; nil: unknown.
    var total: Int64?
    /// Bytes that are there, as pairs of the first and the one behind the last. Nil: everything up to the file's end.
    var done: [[Int64]]?

    /// The ranges that are there in a file of a size; nil when they can't be.
    func ranges(in size: Int64) -> ByteRanges? {
        guard let done else { return size <= total ?? .max ? ByteRanges([0..<size]) : nil }
        guard done.allSatisfy({ $0.count == 2 && 0 <= $0[0] && $0[0] <= $0[1] && $0[1] <= size && $0[1] <= total ?? .max }) else {
            return nil
        }
        return ByteRanges(done.map { $0[0]..<$0[1] })
    }
}
