public import MidstreamCore

extension HTTPClient {
    /// Uploads something, and goes on where it was when a connection breaks.
    ///
    /// ```swift
    /// try await client.upload(.file(film), to: "uploads")
    /// ```
    ///
    /// See ``upload(_:by:protocol:resumes:partSize:meter:)``.
    @discardableResult
    public func upload(
        _ content: UploadContent, to url: RequestURL, headers: HTTPHeaders = [:], protocol: UploadProtocol = .resumable,
        resumes: Int = 5,
        partSize: Int64? = nil, meter: TransferMeter? = nil
    ) async throws -> HTTPResponse {
        try await upload(
            content, by: HTTPRequest(.post, url, headers: headers), protocol: `protocol`, resumes: resumes, partSize: partSize,
            meter: meter)
    }

    /// Uploads something to a URL that isn't written out here.
    @_disfavoredOverload @discardableResult
    public func upload(
        _ content: UploadContent, to url: some RequestURLConvertible, headers: HTTPHeaders = [:],
        protocol: UploadProtocol = .resumable, resumes: Int = 5, partSize: Int64? = nil, meter: TransferMeter? = nil
    ) async throws -> HTTPResponse {
        try await upload(
            content, to: url.requestURL, headers: headers, protocol: `protocol`, resumes: resumes, partSize: partSize,
            meter: meter)
    }

    /// Uploads something, and goes on where it was when a connection breaks.
    ///
    /// The request is sent with the content as its body. Where the server says by an interim response (104) or by its answer where the
    /// upload can be found, the rest is sent there after a failure, beginning at the server's offset. With
    /// ``UploadProtocol/tus`` the request has no body, and all bytes are sent so. A server without support gets an ordinary request.
    ///
    /// No fallback answers in the server's place: success means that the server has all of it.
    ///
    /// Requests follow each other, and each passes the whole pipeline further in. What the server limits (`Upload-Limit`) is kept to: the
    /// size of all, of a part, and how long the upload may be found. A failure that may pass, such as a connection that breaks, 408, 409,
    /// 423, 429, and statuses from 500 on, is followed by another request, with a wait that grows; any other status is final. Where the
    /// upload can't be found the request itself is sent again, as long as the server can't have had all of it or the request may be sent
    /// twice. The client's retries aren't used for a first request that brings bytes, since each would send them again.
    ///
    /// - Parameters:
    ///   - content: What is uploaded. The request's own body isn't sent.
    ///   - request: What begins the upload; a `POST` as a rule.
    ///   - protocol: How it is continued; ``UploadProtocol/resumable`` by default.
    ///   - resumes: How many failures in a row, none of which brings the upload further, are followed by another request; 5 by default.
    ///   - partSize: How many bytes one request brings at most; as many as the server takes by default. Only for a server that is known to
    ///     continue uploads: any other may take the first part for all.
    ///   - meter: Gets the progress; none by default.
    /// - Returns: The response to the request that completed the upload; that to the question for its state (`HEAD`) when the other was lost.
    /// - Throws: What ``send(_:)->HTTPResponse`` throws for the last request; ``HTTPError/Code/bodyTooLarge`` when the server takes less;
    ///   ``HTTPError/Code/protocolViolation`` when its offset or length contradicts what was sent, and when it doesn't say how much it
    ///   has, or where the rest goes (by https, if the upload began so), also after a success that came before all bytes were sent,
    ///   takes nothing of a part, or no longer keeps the upload;
    ///   ``HTTPError/Code/bodyUnreadable`` when the content can't be read, isn't as long as it says, or is a file that has changed since a part
    ///   of it was sent;
    ///   ``HTTPError/Code/unacceptableStatus`` when a redirect has made a request without the content of one that had it.
    @discardableResult
    public func upload(
        _ content: UploadContent, by request: HTTPRequest, protocol: UploadProtocol = .resumable, resumes: Int = 5,
        partSize: Int64? = nil, meter: TransferMeter? = nil
    ) async throws -> HTTPResponse {
        defer { meter?.finish() }
        return try await send(
            uploading(content, by: request, protocol: `protocol`, resumes: resumes, partSize: partSize, meter: meter))
    }

    /// The request that is sent for an upload.
    package func uploading(
        _ content: UploadContent, by request: HTTPRequest, protocol: UploadProtocol, resumes: Int = 5, partSize: Int64? = nil,
        meter: TransferMeter? = nil
    ) -> HTTPRequest {
        var request = request
        request.body = .empty
        request.needsServersAnswer = true
        request.interceptors.append(
            UploadInterceptor(content: content, protocol: `protocol`, resumes: resumes, partSize: partSize, meter: meter))
        request.interceptors.append(UploadCounter())
        return request
    }
}
