public import Foundation

extension HTTPBody {
    /// A value as JSON, as `application/json`.
    ///
    /// - Parameters:
    ///   - value: What to encode; encoded now, not when it is sent.
    ///   - encoder: A plain `JSONEncoder` by default.
    /// - Throws: What the encoder throws.
    public static func json(_ value: some Encodable, encoder: JSONEncoder = JSONEncoder()) throws -> HTTPBody {
        try .encoded(value, by: encoder)
    }

    /// JSON that is written out, as `application/json`. It isn't checked.
    public static func json(text: String) -> HTTPBody {
        HTTPBody(.bytes(Array(text.utf8)), contentType: "application/json")
    }

    /// Fields as `application/x-www-form-urlencoded` (WHATWG URL §5.2), in order, names repeated as given.
    public static func form(_ fields: [(String, String)]) -> HTTPBody {
        let text = fields.map { "\($0.formEncoded)=\($1.formEncoded)" }.joined(separator: "&")
        return HTTPBody(.bytes(Array(text.utf8)), contentType: "application/x-www-form-urlencoded")
    }

    /// Data in memory, as given.
    public static func data(_ data: Data) -> HTTPBody { .bytes([UInt8](data)) }

    /// The same body, declared to be of another media type.
    public func withContentType(_ contentType: String) -> HTTPBody { HTTPBody(storage, contentType: contentType) }
}
