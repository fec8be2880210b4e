public import Foundation
public import MidstreamCore

extension RequestTask {
    /// Checks the digest of the body, which fails with ``HTTPError/Code/digestMismatch`` when it is another.
    ///
    /// ```swift
    /// let film = try await client.get("film").checksum(.sha256(digest)).data()
    /// ```
    ///
    /// A result whose status was rejected passes as it is.
    public func checksum(_ expected: ExpectedDigest) -> AnyRequestTask<Element> where Element == TaskResult<Data> {
        checkingPayload {
            _ = try HTTPBody.data($0).checked(against: expected)
            return $0
        }
    }

    /// Checks the digest of the body while it is read: ``HTTPError/Code/digestMismatch`` comes in place of its end when it is another.
    public func checksum(_ expected: ExpectedDigest) -> AnyRequestTask<Element> where Element == TaskResult<HTTPBody> {
        checkingPayload { try $0.checked(against: expected) }
    }

    private func checkingPayload<Payload>(
        _ check: @escaping @Sendable (Payload) throws -> Payload
    ) -> AnyRequestTask<Element> where Element == TaskResult<Payload> {
        map { $0.rejection == nil ? try $0.map(check) : $0 }
    }
}
