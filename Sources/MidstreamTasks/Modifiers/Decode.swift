public import Foundation
public import MidstreamCore

extension RequestTask {
    /// Decodes the body, by the request's or the client's decoder unless another one is given, and keeps the head.
    ///
    /// ```swift
    /// let result = try await client.get("users/42").decode(User.self).result()
    /// print(result.head.status, result.payload.name)
    /// ```
    ///
    /// The task throws the result's rejection, and ``HTTPError/Code/decoding`` with the place in the body, the status and the URL, and the
    /// `DecodingError` behind it.
    public func decode<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self, decoder: (any BodyDecoder)? = nil
    ) -> AnyRequestTask<TaskResult<Value>> where Element == TaskResult<Data> {
        map { result in
            let data = try result.get()
            return try result.map { _ in try JSONPart(data, of: result).decode(Value.self, by: decoder) }
        }
    }

    /// Decodes the data, as JSON unless a decoder is given.
    public func decode<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self, decoder: (any BodyDecoder)? = nil
    ) -> AnyRequestTask<Value> where Element == Data {
        map { try JSONPart($0).decode(type, by: decoder) }
    }
}
