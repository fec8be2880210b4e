public import Foundation
public import MidstreamCore

/// The short ways to an answer. Each sends the request.
extension DataTask {
    /// Sends the request and gives the response, its body in memory.
    ///
    /// - Throws: What ``HTTPClient/send(_:)->HTTPResponse`` throws, for a rejected status too.
    public func response() async throws -> HTTPResponse { try await client.send(newCall()) }

    /// Sends the request and gives the response while its body is still arriving. Read it to its end or close it.
    ///
    /// - Throws: What ``HTTPClient/stream(_:)`` throws, for a rejected status too.
    public func stream() async throws -> HTTPResponse { try await client.stream(newCall()) }

    /// Sends the request and writes the body of the response to a file, as it arrives.
    ///
    /// It goes to a temporary file beside the target, which takes the target's place when it is complete. After a failure or a
    /// cancellation the temporary file is gone and the target as it was.
    ///
    /// - Parameter file: Where to; its folder must exist. A file that is there already is replaced.
    /// - Returns: The head of the response.
    /// - Throws: ``HTTPError/Code/fileUnwritable``, before anything is sent where the folder can't be written to; what
    ///   ``HTTPClient/stream(_:)`` and reading the body throw.
    @discardableResult
    public func download(to file: URL) async throws -> ResponseHead {
        let target = try DownloadFile(replacing: file)
        let response = try await stream()
        do {
            for try await chunk in response.body { try target.write(chunk) }
            // A sequence may end early, instead of throwing, when its reader is cancelled.
            try Task.checkCancellation()
            try target.complete()
        } catch {
            response.body.close()
            throw error
        }
        return ResponseHead(response)
    }
}

extension RequestTask where Element == TaskResult<Data> {
    /// Asks for the result and decodes its body as JSON.
    ///
    /// - Throws: What the task throws; the ``TaskResult/rejection`` of its status; ``HTTPError/Code/decoding``, which says where the
    ///   body isn't what was expected.
    public func value<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self, decoder: JSONDecoder = JSONDecoder()
    ) async throws -> Value {
        try await decode(type, decoder: decoder).result().payload
    }

    /// Asks for the result and gives its body.
    ///
    /// - Throws: What the task throws, and the ``TaskResult/rejection`` of its status.
    public func data() async throws -> Data { try await result().get() }

    /// Asks for the result and gives its body as text, by the charset of its `Content-Type`; UTF-8 when it names none.
    ///
    /// - Throws: What ``data()`` throws; ``HTTPError/Code/decoding`` when the body isn't text of that charset, or the charset is
    ///   none of UTF-8, UTF-16, ISO 8859-1 and US-ASCII.
    public func string() async throws -> String {
        let result = try await result()
        let data = try result.get()
        let named = result.head.headers[.contentType].flatMap { FieldValueScanner.parameter("charset", of: $0) }
        let charset = named?.lowercased() ?? "utf-8"
        guard let encoding = Self.encodings[charset], let text = String(data: data, encoding: encoding) else {
            throw HTTPError(
                .decoding, "The body is no text of the charset \(charset.debugDescription).",
                request: result.anyResponse.request, response: result.anyResponse)
        }
        return text
    }

    private static var encodings: [String: String.Encoding] {
        [
            "utf-8": .utf8, "utf8": .utf8, "us-ascii": .ascii, "iso-8859-1": .isoLatin1, "utf-16": .utf16,
            "utf-16le": .utf16LittleEndian, "utf-16be": .utf16BigEndian,
        ]
    }
}
