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

    /// Says what would be resumed.
    func plan(_ request: inout HTTPRequest) async throws -> RequestPlan {
        .unknown(
            "would upload \(try content.length()) bytes by the protocol \(`protocol`), resumed up to \(resumes) times in a row")
    }
}
