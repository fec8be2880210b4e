internal import Interception

/// Checks the bytes of a response's body as they come on the wire, for transports that undo content codings.
///
/// A request with one gets its body decoded although it has an `Accept-Encoding` of its own.
package final class EncodedBodyCheck: Sendable {
    /// What a transport does with the body.
    package enum Fate: Sendable {
        /// Hands it out as it comes.
        case kept
        /// Decodes it, and shows the check what it decodes.
        case checked
        /// Has it decoded by something that doesn't show what it decodes.
        case unseen
    }

    private let makeCheck: @Sendable (HTTPHeaders) throws -> BodyCheck?
    private let state = Locked(Fate.kept)

    /// - Parameter makeCheck: Gets the head as it came; nil: there is nothing to check.
    package init(_ makeCheck: @escaping @Sendable (HTTPHeaders) throws -> BodyCheck?) { self.makeCheck = makeCheck }

    /// What the transport does, once there is a head.
    package var fate: Fate { state.withLock { $0 } }

    /// Notes that the body is decoded unseen.
    package func noteDecoding() { state.withLock { $0 = .unseen } }

    /// Begins the check of a body that is going to be decoded.
    package func begin(_ headers: HTTPHeaders) -> BodyCheck? {
        state.withLock { $0 = .checked }
        do {
            return try makeCheck(headers)
        } catch {
            return BodyCheck(onChunk: { _ in throw error }, atEnd: { _ in throw error })
        }
    }
}

private enum EncodedBodyCheckKey: RequestContextKey {
    static var defaultValue: EncodedBodyCheck? { nil }
}

extension HTTPRequest {
    /// What checks the body of the response before its content codings are undone.
    package var encodedBodyCheck: EncodedBodyCheck? {
        get { context[EncodedBodyCheckKey.self] }
        set { context[EncodedBodyCheckKey.self] = newValue }
    }
}
