package import Foundation

extension HTTPResponse {
    /// The buffered body as text, by the charset of its `Content-Type`; UTF-8 when it names none. As browsers do, ISO 8859-1 and US-ASCII
    /// are read as windows-1252, which they often are, and GB 2312 and GBK as GB 18030, of which they are parts.
    ///
    /// What was read of a streamed body is text in the same way once it is the response's ``body``.
    ///
    /// - Throws: ``HTTPError/Code/decoding`` when the body isn't text of that charset, or the charset is none of UTF-8, UTF-16,
    ///   windows-1250 to windows-1254, ISO 8859-1, -2 and -15, US-ASCII, KOI8-R, GB 18030, Shift_JIS and ISO-2022-JP; also when the body
    ///   is a stream, which has to be collected first.
    public func string() throws -> String {
        guard body.bytes != nil else {
            throw HTTPError(
                .decoding, "The body is a stream; collect it before reading it as text.", request: request, response: self)
        }
        return try text(of: data)
    }

    /// Reads the body, or a part of it, by the charset of its `Content-Type`.
    ///
    /// - Throws: ``HTTPError/Code/decoding``.
    package func text(of data: Data) throws -> String {
        let named = headers[.contentType].flatMap { FieldValueScanner.parameter("charset", of: $0) }
        let charset = named.flatMap { $0.isEmpty ? nil : $0.lowercased() } ?? "utf-8"
        func failure(_ message: String) -> HTTPError { HTTPError(.decoding, message, request: request, response: self) }
        guard let encoding = String.Encoding(charset: charset) else {
            throw failure("The charset \(charset.debugDescription) of the body isn't known here.")
        }
        let text = String(data: data, encoding: encoding) ?? (encoding == .windowsCP1252 ? Self.windows1252(data) : nil)
        guard let text else { throw failure("The body is no text of the charset \(charset.debugDescription).") }
        return text
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

extension String.Encoding {
    /// By a name in lower case (WHATWG Encoding §4.2), of those that Foundation reads on Linux as well, where it reads no EUC-JP.
    fileprivate init?(charset: String) {
        switch charset {
        case "utf-8", "utf8": self = .utf8
        case "utf-16": self = .utf16
        case "utf-16le": self = .utf16LittleEndian
        case "utf-16be": self = .utf16BigEndian
        case "windows-1252", "cp1252", "x-cp1252", "iso-8859-1", "iso8859-1", "iso_8859-1", "latin1", "l1", "us-ascii", "ascii",
            "ansi_x3.4-1968":
            self = .windowsCP1252
        case "windows-1250", "cp1250", "x-cp1250": self = .windowsCP1250
        case "windows-1251", "cp1251", "x-cp1251": self = .windowsCP1251
        case "windows-1253", "cp1253", "x-cp1253": self = .windowsCP1253
        case "windows-1254", "cp1254", "x-cp1254": self = .windowsCP1254
        case "iso-8859-2", "iso8859-2", "iso_8859-2", "latin2", "l2": self = .isoLatin2
        case "shift_jis", "shift-jis", "sjis", "x-sjis", "windows-31j", "ms_kanji": self = .shiftJIS
        case "iso-2022-jp": self = .iso2022JP
        // Core Foundation's numbers, where Foundation has no constants.
        case "iso-8859-15", "iso8859-15", "iso_8859-15", "l9": self = Self(rawValue: 0x8000_020F)
        case "koi8-r", "koi8_r", "koi8", "koi": self = Self(rawValue: 0x8000_0A02)
        case "gb18030", "gbk", "x-gbk", "gb2312", "gb_2312": self = Self(rawValue: 0x8000_0632)
        default: return nil
        }
    }
}
