public import Foundation
internal import Interception
public import MidstreamCore

extension HTTPClient {
    /// Sends a request and writes the body of its response to a file, as it arrives.
    ///
    /// It goes to a file beside the target, `.NAME.midstream-part` (of names beyond 230 bytes their beginning and a hash), which takes the
    /// target's place when it is complete, with the mode of the file that it replaces. Only its owner can read it until then, and one
    /// download at a time can write to it.
    ///
    /// What breaks off is continued where it broke off, in this call up to ``DownloadOptions/resumes`` times, and otherwise by the next
    /// download of the same request to the same file, in any process. The rest is requested with `Range`, and with
    /// `If-Range` so that it sends the whole when that has changed (RFC 9110 §13.1.5, §14.2). That takes a strong `ETag`, or a
    /// `Last-Modified` a minute older than the response; without one, and for other methods than `GET`, a failure is
    /// thrown and leaves nothing. An answer that isn't the rest of the same version is never joined to what is there.
    ///
    /// Each request passes the whole pipeline further in, so it is retried, authenticated and signed by itself; the trace shows them all.
    /// The deadline covers the download, the timeout of an attempt each head. To be resumable, no encoding is requested unless
    /// the request has an `Accept-Encoding`.
    ///
    /// - Parameters:
    ///   - file: Where to; its folder must exist. A regular file that is there already is replaced; anything else, such as a link, a device
    ///     or a pipe, is left as it is.
    ///   - options: How; see ``DownloadOptions`` for the defaults.
    /// - Returns: The last response, without its body. After a part its status and fields are those of the whole: 200, without
    ///   `Content-Range`, with the length of all.
    /// - Throws: ``HTTPError/Code/fileUnwritable``: before anything is sent when there is something else than a regular file or its folder
    ///   can't be written to; when there is no room for what the server announces; when an interceptor further out, such as a fallback,
    ///   answers in place of the download. ``HTTPError/Code/unacceptableStatus`` for any other answer than 200 and 206, with its body as
    ///   ``stream(_:)`` gives that of a rejected one.
    ///   ``HTTPError/Code/fileInUse`` when another
    ///   download writes to the file. ``HTTPError/Code/digestMismatch``, ``HTTPError/Code/protocolViolation`` for
    ///   answers that contradict themselves, and what ``stream(_:)`` and reading the body throw. The target is then as it was.
    @discardableResult
    public func download(
        _ request: HTTPRequest, to file: URL, options: DownloadOptions = DownloadOptions()
    ) async throws -> HTTPResponse {
        var request = request
        let download = DownloadInterceptor(file: file, options: options)
        request.interceptors.append(download)
        defer { options.meter?.finish() }
        let response = try await stream(request)
        guard download.isDone.withLock({ $0 }) else {
            response.body.close()
            throw HTTPError(
                .fileUnwritable, "An interceptor answered in place of the download, of which no file was made.",
                request: response.request, response: response)
        }
        return response
    }
}
