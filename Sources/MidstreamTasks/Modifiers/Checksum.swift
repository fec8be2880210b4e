public import Foundation
public import MidstreamCore

extension Modifiers {
    /// Checks the digest of a body.
    ///
    /// ```swift
    /// let film = try await client.get("film").modifier(Modifiers.Checksum(.sha256, expected: digest)).data()
    /// ```
    ///
    /// One in memory is checked at once, one that is streamed while it is read: the error comes in place of its end. A result whose status
    /// was rejected passes as it is.
    public struct Checksum<Payload: Sendable>: RequestTaskModifier {
        private let expected: ExpectedDigest
        private let check: @Sendable (Payload, ExpectedDigest) throws -> Payload

        /// Gives the result, its body checked.
        ///
        /// - Throws: What the task throws; ``HTTPError/Code/digestMismatch``.
        public func body(_ task: AnyRequestTask<TaskResult<Payload>>) async throws -> TaskResult<Payload> {
            let result = try await task.result()
            guard result.rejection == nil else { return result }
            return try result.map { try check($0, expected) }
        }
    }
}

extension Modifiers.Checksum where Payload == Data {
    /// Makes the modifier, for bodies in memory.
    ///
    /// - Parameters:
    ///   - algorithm: `.sha256` or `.sha512`, which come with the module `MidstreamSigning`.
    ///   - digest: What has to come out.
    public init(_ algorithm: DigestAlgorithm, expected digest: [UInt8]) {
        expected = ExpectedDigest(algorithm, digest)
        check = { data, expected in
            _ = try HTTPBody.data(data).checked(against: expected)
            return data
        }
    }
}

extension Modifiers.Checksum where Payload == HTTPBody {
    /// Makes the modifier, for bodies that are streamed.
    ///
    /// - Parameters:
    ///   - algorithm: `.sha256` or `.sha512`, which come with the module `MidstreamSigning`.
    ///   - digest: What has to come out.
    public init(_ algorithm: DigestAlgorithm, expected digest: [UInt8]) {
        expected = ExpectedDigest(algorithm, digest)
        check = { try $0.checked(against: $1) }
    }
}
