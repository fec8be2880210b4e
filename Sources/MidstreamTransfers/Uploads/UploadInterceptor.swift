internal import Interception
internal import MidstreamCore

/// Sends a content with as many requests further in as it takes.
struct UploadInterceptor: HTTPInterceptor {
    let content: UploadContent
    let `protocol`: UploadProtocol
    let resumes: Int
    let partSize: Int64?
    let meter: TransferMeter?

    var stage: InterceptorStage { .call }

    /// What stands further in sees each request.
    var rank: InterceptorRank { .wire }

    func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        var upload = try Upload(self, request, next)
        return try await upload.run()
    }

    /// The request that begins an upload of so many bytes, without its body, and those that it brings.
    func creation(by request: HTTPRequest, of length: Int64) -> (HTTPRequest, Range<Int64>) {
        var creation = request
        let part = `protocol`.createsWithContent ? 0..<min(length, max(1, partSize ?? length)) : 0..<0
        `protocol`.prepareCreation(&creation.headers, length: length, isAll: part.upperBound == length)
        // It is about what the request brings (RFC 9530 §2).
        if part.upperBound < length { creation.headers.remove("Content-Digest") }
        // The upload goes on from where the server is; a retry would send all of it again.
        if !part.isEmpty { creation.maxRetries = 0 }
        if let type = content.contentType, !creation.headers.contains(.contentType) { creation.headers[.contentType] = type }
        return (creation, part)
    }

    /// Plans the request that begins it, and says what would be resumed.
    func plan(_ request: inout HTTPRequest) async throws -> RequestPlan {
        let length = try content.length()
        let (first, part) = creation(by: request, of: length)
        request = first
        request.body = content.body(part)
        return .unknown("would upload \(length) bytes by the protocol \(`protocol`), resumed up to \(resumes) times in a row")
    }
}
