internal import Interception

/// Checks the bytes of a response's body before a transport undoes content codings.
///
/// With it a body is decoded although the request has an `Accept-Encoding` of its own.
package final class EncodedBodyCheck: Sendable {
    private let makeCheck: @Sendable (HTTPHeaders) throws -> BodyCheck?
    private let begun = Locked(false)

    /// - Parameter makeCheck: Gets the head as it came; returns nil for nothing to check.
    package init(_ makeCheck: @escaping @Sendable (HTTPHeaders) throws -> BodyCheck?) { self.makeCheck = makeCheck }

    /// Whether the body is decoded after the check, once there is a head.
    package var hasBegun: Bool { begun.withLock { $0 } }

    /// Begins the check of a body that is going to be decoded.
    package func begin(_ headers: HTTPHeaders) -> BodyCheck? {
        begun.withLock { $0 = true }
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
