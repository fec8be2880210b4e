public import Interception
public import MidstreamCore

/// Checks responses against the digests that servers send with them (RFC 9530).
///
/// ```swift
/// let client = HTTPClient(baseURL: "https://files.example.com") { VerifyDigest() }
/// ```
///
/// Checked are `Content-Digest`, `Repr-Digest` and `Unencoded-Digest` (draft-ietf-httpbis-unencoded-digest), in the head and after the
/// body, by `sha-256` and `sha-512`; other functions are passed over, and so is a field that can't be read, with a note. Behind a
/// streamed body they are checked if the head has a `Trailer`, a digest by the same function, or neither a digest nor a length. A body that
/// isn't what was meant fails with ``HTTPError/Code/digestMismatch`` in place of its end, while it is streamed, so
/// nobody takes it for whole. A response without a digest passes.
///
/// The first two are reckoned over encoded bytes. So requests ask for no encoding, unless they have an `Accept-Encoding` of their own, or
/// ``init(acceptsEncodings:)`` allows them. A body that comes encoded all the same is checked and then decoded by the wire and by
/// libcurl's transport; URLSession decodes it unseen, whatever was asked for, so that `Unencoded-Digest` alone is checked, with a note. Of
/// a 206, or a 200 with a `Content-Range`, `Content-Digest` is checked: the others are those of the whole, which a download of parts, and
/// what a cache joins of them, is checked against at its end. To `HEAD`, and with 101, 204 and 304, nothing comes that could be checked.
public struct VerifyDigest: HTTPInterceptor {
    private let acceptsEncodings: Bool

    /// Makes an interceptor.
    ///
    /// - Parameter acceptsEncodings: Whether responses may come encoded; false by default. When they may, only `Unencoded-Digest` is
    ///   checked, which few servers send yet, and not where the transport leaves the body encoded.
    public init(acceptsEncodings: Bool = false) { self.acceptsEncodings = acceptsEncodings }

    /// `.exchange`.
    public var stage: InterceptorStage { .exchange }
    /// It serves all alike.
    public var traits: InterceptorTraits { .impersonal }

    /// Asks for digests, and has the body of the response checked.
    ///
    /// - Throws: What `next` throws; ``HTTPError/Code/digestMismatch`` for a body in memory that is another.
    public func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        var asking = asking(request)
        let encoded = EncodedBodyCheck { head in
            let digests = ToldDigests(ofEncoded: head)
            return digests.mayCome ? try digests.beginCheck() : nil
        }
        // What the request asks for by itself is read as it comes, where nobody decodes it unseen.
        if !acceptsEncodings, !request.headers.contains(.acceptEncoding) { asking.encodedBodyCheck = encoded }
        var response = try await next(asking)
        let status = response.status
        guard asking.method != .head, status != 101, status != .noContent, status != .notModified else { return response }
        let digests = ToldDigests(response, askedBy: asking, isDecoded: encoded.hasBegun || response.isDecodedUnseen)
        if status == .partialContent || status == .ok { response.readRepresentationDigests = { digests.whole($0) } }
        for note in [digests.note, encoded.note(response)] {
            if let note { next.position.note({ note }, about: request) }
        }
        do {
            if let bytes = response.body.bytes {
                try digests.check(bytes, trailers: response.trailers)
            } else if digests.mayCome {
                response.body = response.body.checked { try digests.beginCheck() }
            }
        } catch {
            response.body.close()
            throw error
        }
        return response
    }

    /// Asks as a request would.
    public func plan(_ request: inout HTTPRequest) async throws -> RequestPlan {
        request = asking(request)
        return .known("checks the digests of the response")
    }

    private func asking(_ request: HTTPRequest) -> HTTPRequest {
        var asking = request
        var wanted: [HTTPHeaders.Name] = ["Want-Unencoded-Digest"]
        if !acceptsEncodings {
            wanted += ["Want-Repr-Digest", "Want-Content-Digest"]
            if !request.headers.contains(.acceptEncoding) { asking.headers[.acceptEncoding] = "identity" }
        }
        for name in wanted where !request.headers.contains(name) { asking.headers[name] = "sha-256=10, sha-512=9" }
        return asking
    }
}

extension EncodedBodyCheck {
    fileprivate func note(_ response: HTTPResponse) -> String? {
        guard hasBegun || response.isDecodedUnseen, let note = ToldDigests(ofEncoded: response.headers).note else { return nil }
        return hasBegun ? "\(note) before decoding" : "Content-Digest and Repr-Digest are of what the system has decoded"
    }
}
