internal import Interception

/// Checks the bytes of a response's body before a transport undoes content codings.
///
/// With it a body is decoded although the request has an `Accept-Encoding` of its own.
package final class EncodedBodyCheck: Sendable {
    /// A transport's treatment of the body.
    package enum Fate: Sendable {
        /// Handed out as it comes.
        case kept
        /// Decoded after the check.
        case checked
        /// Decoded by the system, without the check.
        case unseen
    }

    private let makeCheck: @Sendable (HTTPHeaders) throws -> BodyCheck?
    private let state = Locked(Fate.kept)

    /// - Parameter makeCheck: Gets the head as it came; returns nil for nothing to check.
    package init(_ makeCheck: @escaping @Sendable (HTTPHeaders) throws -> BodyCheck?) { self.makeCheck = makeCheck }

    /// The transport's treatment, once there is a head.
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

private enum EncodedBodyCheckKey: RequestContextKey { static var defaultValue: EncodedBodyCheck? { nil } }

extension HTTPRequest {
    /// Checks the response's body before its content codings are undone.
    package var encodedBodyCheck: EncodedBodyCheck? {
        get { context[EncodedBodyCheckKey.self] }
        set { context[EncodedBodyCheckKey.self] = newValue }
    }
}
