internal import Foundation
public import Interception
public import MidstreamCore

extension DigestAlgorithm {
    /// A digest as the fields of RFC 9530 have it, such as `sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:`.
    public func field(_ digest: [UInt8]) -> String { "\(self)=:\(Data(digest).base64EncodedString()):" }
}

/// Adds `Content-Digest` to requests with a body (RFC 9530 §2), so that servers can check what arrives.
///
/// A body that can be sent again is read once more beforehand. One that can be read a single time is reckoned while it is sent, and its
/// digest follows it as a trailer, where the transport can send one (``HTTPRequest/trailers``) and its length isn't known.
/// A request that has the field keeps it.
///
/// It stands at `.attempt`, so that a signature covers the field, and there innermost: what changes the body, as compression does,
/// has done so, whatever the list's order.
public struct SendDigest: HTTPInterceptor {
    private let algorithm: DigestAlgorithm

    /// Makes an interceptor; of `sha-256` by default.
    public init(_ algorithm: DigestAlgorithm = .sha256) { self.algorithm = algorithm }

    /// `.innermost`.
    public var rank: InterceptorRank { .innermost }

    /// Adds the field, and sends the request.
    ///
    /// - Throws: What `next` and reading the body throw.
    public func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        var request = request
        if let note = try await add(to: &request) { next.position.note({ note }, about: request) }
        return try await next(request)
    }

    /// Adds the field, as a request would; a stream gets its digest as a trailer.
    public func plan(_ request: inout HTTPRequest) async throws -> RequestPlan {
        .known(try await add(to: &request))
    }

    private func add(to request: inout HTTPRequest) async throws -> String? {
        let body = request.body
        guard body.bytes?.isEmpty != true, !request.headers.contains(.contentDigest) else { return nil }
        guard body.replayability == .once else {
            request.headers[.contentDigest] = algorithm.field(try await body.digest(algorithm))
            return nil
        }
        guard body.length == nil, request.trailers == nil, !request.headers.contains(.contentLength) else {
            return "no digest: the body can be read once and leaves no room for trailers"
        }
        let sent = Locked<[UInt8]?>(nil)
        let algorithm = algorithm
        request.body = body.checked {
            let running = try Hashing(algorithm.function)
            return BodyCheck {
                try running.update($0)
            } atEnd: { _ in
                let digest = try running.finish()
                sent.withLock { $0 = digest }
            }
        }
        request.headers[.trailer] = "Content-Digest"
        request.trailers = { sent.withLock { $0 }.map { ["Content-Digest": algorithm.field($0)] } ?? [:] }
        return "the digest follows the body"
    }
}
