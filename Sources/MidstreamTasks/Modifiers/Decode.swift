public import Foundation
public import MidstreamCore

extension Modifiers {
    /// Decodes the body of an accepted result and keeps the head.
    public struct Decode<Value: Decodable & Sendable>: RequestTaskModifier {
        private let decoder: (any BodyDecoder)?

        /// Makes the modifier.
        ///
        /// - Parameter decoder: nil, the default: the request's (``HTTPRequest/decoder``) or the client's.
        public init(_ type: Value.Type = Value.self, decoder: (any BodyDecoder)? = nil) { self.decoder = decoder }

        /// Gives the decoded result.
        ///
        /// - Throws: The result's rejection; ``HTTPError/Code/decoding`` with the place in the body, the
        ///   status and the URL, and the `DecodingError` behind it; what the task throws.
        public func body(_ task: AnyRequestTask<TaskResult<Data>>) async throws -> TaskResult<Value> {
            let result = try await task.result()
            let data = try result.get()
            return try result.map { _ in try JSONPart(data, of: result).decode(Value.self, by: decoder) }
        }
    }
}

extension RequestTask {
    /// Decodes the body, by the request's or the client's decoder unless another one is given, and keeps the head.
    ///
    /// ```swift
    /// let result = try await client.get("users/42").decode(User.self).result()
    /// print(result.head.status, result.payload.name)
    /// ```
    ///
    /// See ``Modifiers/Decode``.
    public func decode<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self, decoder: (any BodyDecoder)? = nil
    ) -> AnyRequestTask<TaskResult<Value>> where Element == TaskResult<Data> {
        modifier(Modifiers.Decode(type, decoder: decoder))
    }

    /// Decodes the data, as JSON unless a decoder is given.
    public func decode<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self, decoder: (any BodyDecoder)? = nil
    ) -> AnyRequestTask<Value> where Element == Data {
        map { try JSONPart($0).decode(type, by: decoder) }
    }
}
