package import Foundation

extension HTTPResponse {
    /// Decodes the buffered body.
    ///
    /// - Parameter decoder: nil, the default: the request's (``HTTPRequest/decoder``), the client's
    ///   (``HTTPClient/Configuration/decoder``), or else a plain `JSONDecoder`.
    /// - Throws: ``HTTPError/Code/decoding``, which says where the body isn't what was expected, without quoting it, and has the
    ///   decoder's error behind it; also when the body is a stream, which has to be collected first.
    public func decode<T: Decodable>(_ type: T.Type = T.self, decoder: (any BodyDecoder)? = nil) throws -> T {
        guard body.bytes != nil else {
            throw HTTPError(.decoding, "The body is a stream; collect it before decoding.", request: request, response: self)
        }
        return try JSONDecoding(of: self).decode(type, from: data, by: decoder)
    }
}

extension HTTPError {
    /// Decodes the body of the ``response``, such as an API's own description of what is wrong.
    ///
    /// ```swift
    /// } catch let error as HTTPError {
    ///     let problem = try? error.decode(APIProblem.self)
    /// }
    /// ```
    ///
    /// - Parameter decoder: nil, the default: the request's or the client's.
    /// - Throws: ``Code/decoding`` when there is no response, its body isn't in memory as a whole, or isn't what was expected.
    public func decode<Value: Decodable>(_ type: Value.Type = Value.self, decoder: (any BodyDecoder)? = nil) throws -> Value {
        guard let response else {
            throw HTTPError(
                .decoding, "There is no response to decode: \(message)", request: request, underlying: self, phase: phase)
        }
        if let bodyShortfall {
            throw HTTPError(.decoding, bodyShortfall, request: request, response: response, underlying: self)
        }
        return try response.decode(type, decoder: decoder)
    }
}

/// Decodes a body, JSON as a rule. Its errors name the place of the problem and quote nothing of the body.
package struct JSONDecoding {
    private let response: HTTPResponse?
    /// Where in the body the data was.
    private let base: [JSONStep]
    /// The data's name in messages.
    private let subject: String

    /// For the body of a response or a part of it; nil for data that nothing else is known of.
    package init(of response: HTTPResponse?, at base: [JSONStep] = [], named subject: String = "The body") {
        self.response = response
        self.base = base
        self.subject = subject
    }

    /// - Parameter decoder: nil: that of the response.
    package func decode<Value: Decodable>(_ type: Value.Type, from data: Data, by decoder: (any BodyDecoder)?) throws -> Value {
        do {
            return try (decoder ?? response?.decoder ?? JSONDecoder()).decode(type, from: data)
        } catch {
            throw failure(of: type, error)
        }
    }

    /// The error for a decoder's error.
    package func failure(of type: Any.Type, _ error: any Error) -> HTTPError {
        guard let error = error as? DecodingError else {
            return failure("\(subject) is no \(type): \(Swift.type(of: error)) was thrown.", underlying: error)
        }
        let (problem, path) = Self.problem(error)
        return failure("\(subject) is no \(type): \((base + path).text): \(problem).", underlying: error)
    }

    package func failure(_ message: String, underlying: (any Error)? = nil) -> HTTPError {
        HTTPError(
            .decoding, message, request: response?.request, response: response, underlying: underlying, phase: .answered)
    }

    /// The decoder's problem, and where it is. Its own description isn't used: it may quote values.
    private static func problem(_ error: DecodingError) -> (String, [JSONStep]) {
        switch error {
        case .typeMismatch(let type, let context): ("expected \(type)", context.steps)
        case .valueNotFound(let type, let context): ("expected \(type), found null", context.steps)
        case .keyNotFound(let key, let context): ("the key \(key.stringValue.debugDescription) is missing", context.steps)
        case .dataCorrupted(let context):
            (context.codingPath.isEmpty ? "isn't valid JSON, or no valid value" : "the value isn't valid", context.steps)
        @unknown default: ("can't be decoded", [])
        }
    }
}

extension DecodingError.Context {
    fileprivate var steps: [JSONStep] { codingPath.map { JSONStep($0) } }
}
