internal import Foundation
internal import MidstreamCore

/// JSON data, and where in the body of which response it stands.
struct JSONPart {
    private let data: Data
    private let response: HTTPResponse?
    private let base: [JSONStep]

    /// - Parameter response: Nil for data that nothing else is known of.
    init(_ data: Data, of response: HTTPResponse? = nil, at base: [JSONStep] = []) {
        (self.data, self.response, self.base) = (data, response, base)
    }

    /// The payload of a result.
    init(_ data: Data, of result: TaskResult<Data>) { self.init(data, of: result.anyResponse, at: result.path) }

    /// Decodes the data.
    ///
    /// - Throws: ``HTTPError/Code/decoding``, with the place of the unexpected data.
    func decode<Value: Decodable>(_ type: Value.Type, by decoder: (any BodyDecoder)?) throws -> Value {
        try JSONDecoding(of: response, at: base).decode(type, from: data, by: decoder)
    }

    /// The part at a path, byte for byte.
    ///
    /// - Throws: ``HTTPError/Code/decoding``, which names the step that leads nowhere.
    func part(at path: JSONPath) throws -> Data {
        switch try find(path) {
        case .found(let range): return data.part(range)
        case .missing(let depth, let kind):
            let place = Array(path.steps[..<depth])
            throw failure(
                "\((base + path.steps).text) isn't in the body: \((base + place).text) is \(kind) without "
                    + "\([path.steps[depth]].text).")
        }
    }

    /// The string or number at a path, as text; nil where there is nothing or null.
    ///
    /// - Throws: ``HTTPError/Code/decoding`` when the body isn't JSON, or something else is there.
    func scalar(at path: JSONPath) throws -> String? {
        guard case .found(let range) = try find(path) else { return nil }
        let part = data.part(range)
        // By its first byte: a combining mark that the string begins with makes a character of itself and the quotation mark.
        switch part.first ?? 0 {
        case UInt8(ascii: "\""):
            return try JSONDecoding(of: response, at: base + path.steps).decode(String.self, from: part, by: JSONDecoder())
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return String(decoding: part, as: UTF8.self)
        case UInt8(ascii: "n"): return nil
        default: throw failure("\((base + path.steps).text) is neither a string nor a number.")
        }
    }

    private func find(_ path: JSONPath) throws -> JSONScanner.Finding {
        do {
            return try JSONScanner.find(path.steps, in: data)
        } catch {
            throw failure("\((base + path.steps).text) can't be found: the body isn't JSON.")
        }
    }

    private func failure(_ message: String) -> HTTPError { JSONDecoding(of: response).failure(message) }
}

extension Data {
    fileprivate func part(_ range: Range<Int>) -> Data { Data(dropFirst(range.lowerBound).prefix(range.count)) }
}
