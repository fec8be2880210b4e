internal import Foundation
internal import Interception
internal import MidstreamCore

/// Writes the body of the response to a file, and asks further in for what is missing of it. One call's.
struct DownloadInterceptor: HTTPInterceptor {
    let file: URL
    let options: DownloadOptions
    /// Whether the file has been written.
    let isDone = Locked(false)

    var stage: InterceptorStage { .call }

    /// What stands further in sees each request.
    var rank: InterceptorRank { .wire }

    func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        let part = try PartFile(replacing: file)
        let source = DownloadSource(request: request, next: next, options: options)
        let response = try await Download(source, part).run()
        isDone.withLock { $0 = true }
        return response
    }

    func plan(_ request: inout HTTPRequest) async throws -> RequestPlan {
        .unknown("would write to \(file.lastPathComponent), and go on with what an earlier download has left of it")
    }
}
