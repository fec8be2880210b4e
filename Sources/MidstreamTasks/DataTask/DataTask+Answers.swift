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
}

/// The payload, whatever stands before it.
extension RequestTask {
    /// Asks for the result and gives it.
    ///
    /// - Throws: What the task throws.
    @_disfavoredOverload
    public func value() async throws -> Element { try await result() }

    /// Asks for the result and gives its payload: what `decode`, `keyPath` and the like have made of the body.
    ///
    /// ```swift
    /// let user = try await client.get("users/42").decode(User.self).value()
    /// ```
    ///
    /// - Throws: What the task throws, and the ``TaskResult/rejection`` of its status.
    public func value<Payload>() async throws -> Payload where Element == TaskResult<Payload> { try await result().get() }
}

extension RequestTask where Element == Data {
    /// Asks for the data and decodes it.
    ///
    /// - Parameter decoder: A plain `JSONDecoder` by default.
    /// - Throws: What the task throws; ``HTTPError/Code/decoding``, with the place of the unexpected data.
    public func value<Value: Decodable & Sendable>(
        _ type: Value.Type, decoder: (any BodyDecoder)? = nil
    ) async throws -> Value {
        try await decode(type, decoder: decoder).result()
    }

    /// The same for a type that is decodable only where the caller is, such as on the main actor. Decoded there.
    @_disfavoredOverload
    public nonisolated(nonsending) func value<Value: Decodable>(
        _ type: Value.Type, decoder: (any BodyDecoder)? = nil
    ) async throws -> Value {
        try JSONPart(try await result()).decode(type, by: decoder)
    }
}

extension RequestTask where Element == TaskResult<Data> {
    /// Asks for the result and decodes its body.
    ///
    /// - Parameter decoder: nil, the default: the request's (``HTTPRequest/decoder``) or the client's.
    /// - Throws: What the task throws; the ``TaskResult/rejection`` of its status; ``HTTPError/Code/decoding``, which says where the
    ///   body isn't what was expected.
    public func value<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self, decoder: (any BodyDecoder)? = nil
    ) async throws -> Value {
        try await decode(type, decoder: decoder).result().payload
    }

    /// The same for a type that is decodable only where the caller is, such as on the main actor. Decoded there.
    @_disfavoredOverload
    public nonisolated(nonsending) func value<Value: Decodable>(
        _ type: Value.Type = Value.self, decoder: (any BodyDecoder)? = nil
    ) async throws -> Value {
        let result = try await result()
        return try JSONPart(try result.get(), of: result).decode(type, by: decoder)
    }

    /// Asks for the result and gives its body.
    ///
    /// - Throws: What the task throws, and the ``TaskResult/rejection`` of its status.
    public func data() async throws -> Data { try await result().get() }

    /// Asks for the result and gives its body as text, by the charset of its `Content-Type`; UTF-8 when it names none.
    /// As browsers do, ISO 8859-1 and US-ASCII are read as windows-1252, which they often are.
    ///
    /// - Throws: What ``data()`` throws; ``HTTPError/Code/decoding`` when the body isn't text of that charset, or the charset is
    ///   none of UTF-8, UTF-16, windows-1250 to windows-1254, ISO 8859-1 and -2, US-ASCII, Shift_JIS and ISO-2022-JP.
    public func string() async throws -> String {
        let result = try await result()
        let data = try result.get()
        let named = result.head.headers[.contentType].flatMap { FieldValueScanner.parameter("charset", of: $0) }
        let charset = named.flatMap { $0.isEmpty ? nil : $0.lowercased() } ?? "utf-8"
        func failure(_ message: String) -> HTTPError {
            HTTPError(.decoding, message, request: result.anyResponse.request, response: result.anyResponse)
        }
        guard let encoding = Self.encoding(of: charset) else {
            throw failure("The charset \(charset.debugDescription) of the body isn't known here.")
        }
        let text = String(data: data, encoding: encoding) ?? (encoding == .windowsCP1252 ? Self.windows1252(data) : nil)
        guard let text else { throw failure("The body is no text of the charset \(charset.debugDescription).") }
        return text
    }

    /// Foundation has a constant for these, and on Linux a reader: it has none of EUC-JP.
    private static func encoding(of charset: String) -> String.Encoding? {
        switch charset {
        case "utf-8", "utf8": .utf8
        case "utf-16": .utf16
        case "utf-16le": .utf16LittleEndian
        case "utf-16be": .utf16BigEndian
        // WHATWG Encoding §4.2
        case "windows-1252", "cp1252", "x-cp1252", "iso-8859-1", "iso8859-1", "iso_8859-1", "latin1", "l1", "us-ascii", "ascii",
            "ansi_x3.4-1968":
            .windowsCP1252
        case "windows-1250", "cp1250", "x-cp1250": .windowsCP1250
        case "windows-1251", "cp1251", "x-cp1251": .windowsCP1251
        case "windows-1253", "cp1253", "x-cp1253": .windowsCP1253
        case "windows-1254", "cp1254", "x-cp1254": .windowsCP1254
        case "iso-8859-2", "iso8859-2", "iso_8859-2", "latin2", "l2": .isoLatin2
        case "shift_jis", "shift-jis", "sjis", "x-sjis", "windows-31j", "ms_kanji": .shiftJIS
        case "iso-2022-jp": .iso2022JP
        default: nil
        }
    }

    /// Text with any of the five bytes that windows-1252 leaves undefined, which stand for themselves (WHATWG Encoding §9).
    private static func windows1252(_ data: Data) -> String {
        let scalars = (0...UInt8.max).map { byte in
            String(data: Data([byte]), encoding: .windowsCP1252)?.unicodeScalars.first ?? Unicode.Scalar(byte)
        }
        var text = String.UnicodeScalarView()
        text.append(contentsOf: data.lazy.map { scalars[Int($0)] })
        return String(text)
    }
}
