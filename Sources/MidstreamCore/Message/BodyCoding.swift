public import Foundation

/// Makes values of bodies, in whatever format: `JSONDecoder` and `PropertyListDecoder` do, and any other with one method.
public protocol BodyDecoder: Sendable {
    /// Decodes a body.
    ///
    /// - Throws: An error, which reaches the caller behind ``HTTPError/Code/decoding``. A `DecodingError` says where it went wrong.
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

/// What a run through a pipeline belongs to, as far as it says how bodies are decoded where nothing else is given.
package protocol BodyDecoderSource: AnyObject, Sendable {
    var decoder: any BodyDecoder { get }
}

/// Makes bodies of values, in whatever format.
public protocol BodyEncoder: Sendable {
    /// The media type of its bodies.
    var contentType: String { get }

    /// Encodes a value.
    ///
    /// - Throws: An error, which reaches the caller as it is.
    func encode<Value: Encodable>(_ value: Value) throws -> Data
}

extension JSONDecoder: BodyDecoder {}
extension PropertyListDecoder: BodyDecoder {}

extension JSONEncoder: BodyEncoder {
    /// `application/json`.
    public var contentType: String { "application/json" }
}

extension PropertyListEncoder: BodyEncoder {
    /// `application/x-plist`.
    public var contentType: String { "application/x-plist" }
}

private enum DecoderKey: RequestContextKey { static var defaultValue: (any BodyDecoder)? { nil } }

extension HTTPRequest {
    /// The default decoder of the response's body; nil: the client's.
    public var decoder: (any BodyDecoder)? {
        get { context[DecoderKey.self] }
        set { context[DecoderKey.self] = newValue }
    }
}

extension HTTPBody {
    /// A value in the format and with the media type of an encoder; encoded now, not when it is sent.
    ///
    /// - Throws: What the encoder throws.
    public static func encoded(_ value: some Encodable, by encoder: any BodyEncoder) throws -> HTTPBody {
        HTTPBody(.bytes([UInt8](try encoder.encode(value))), contentType: encoder.contentType)
    }
}
