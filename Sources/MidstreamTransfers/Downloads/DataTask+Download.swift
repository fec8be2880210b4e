public import Foundation
internal import MidstreamCore
public import MidstreamTasks

extension DataTask {
    /// Sends the request and writes the body of the response to a file, as it arrives.
    ///
    /// It goes to a file beside the target, which takes the target's place when it is complete. What breaks off is continued where it
    /// broke off, in this call and by a later one, where the server shows that it is still the same; see
    /// ``HTTPClient/download(_:to:options:)``. Otherwise a failure leaves nothing. The target is as it was then.
    ///
    /// - Parameters:
    ///   - file: Where to; its folder must exist. A file that is there already is replaced.
    ///   - options: How; see ``DownloadOptions`` for the defaults.
    ///   - progress: Gets how much of the file is there and its length, with each answer and piece by piece, whichever request brings it;
    ///     less than before only when it begins again. One call follows the other, so it mustn't wait. What else there is to tell a
    ///     ``TransferMeter`` does. Nil by default.
    /// - Returns: The head of the last response.
    /// - Throws: What ``HTTPClient/download(_:to:options:)`` throws.
    @discardableResult
    public func download(
        to file: URL, options: DownloadOptions = DownloadOptions(), progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> ResponseHead {
        var options = options
        options.report = progress
        return ResponseHead(try await client.download(newCall(), to: file, options: options))
    }
}
