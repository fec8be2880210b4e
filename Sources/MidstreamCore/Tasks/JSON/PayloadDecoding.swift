internal import Foundation

/// Takes JSON apart, and tells precisely what is wrong with it.
struct PayloadDecoding {
    /// How many characters of a body a message quotes.
    static let excerptLength = 200

    private let response: HTTPResponse?
    private let trace: Trace?
    /// Where in the body the data was.
    private let base: [JSONStep]

    /// For data that nothing else is known of.
    init() { (response, trace, base) = (nil, nil, []) }

    /// For the payload of a result.
    init(of result: TaskResult<Data>) {
        response = result.anyResponse
        trace = result.response?.trace
        base = result.path
    }

    /// For the body of a response.
    init(of response: HTTPResponse) {
        self.response = response
        trace = response.trace
        base = []
    }

    func decode<Value: Decodable>(_ type: Value.Type, from data: Data, by decoder: JSONDecoder) throws -> Value {
        do {
            return try decoder.decode(type, from: data)
        } catch let error as DecodingError {
            let (problem, path) = Self.problem(error)
            throw failure(
                "The body is no \(type): \((base + path).text): \(problem); \(excerpt(of: data, at: path))", underlying: error)
        } catch {
            throw failure("The body is no \(type): \(Swift.type(of: error)) was thrown.", underlying: error)
        }
    }

    func part(of data: Data, at path: JSONPath) throws -> Data {
        switch try find(path, in: data) {
        case .found(let range): return data.part(range)
        case .missing(let depth, let kind):
            let place = Array(path.steps[..<depth])
            throw failure(
                "\((base + path.steps).text) isn't in the body: \((base + place).text) is \(kind) without "
                    + "\([path.steps[depth]].text); \(excerpt(of: data, at: place))")
        }
    }

    /// The string or number at a path, as text; nil where there is nothing or null.
    ///
    /// - Throws: ``HTTPError/Code/decoding`` when the body isn't JSON, or something else is there.
    func scalar(in data: Data, at path: JSONPath) throws -> String? {
        guard case .found(let range) = try find(path, in: data) else { return nil }
        let part = data.part(range)
        let text = String(decoding: part, as: UTF8.self)
        switch text.first {
        case "\"": return try decode(String.self, from: part, by: JSONDecoder())
        case "-", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9": return text
        case "n": return nil
        default: throw failure("\((base + path.steps).text) is neither a string nor a number.")
        }
    }

    private func find(_ path: JSONPath, in data: Data) throws -> JSONScanner.Finding {
        do {
            return try JSONScanner.find(path.steps, in: data)
        } catch {
            throw failure(
                "\((base + path.steps).text) can't be found: the body isn't JSON; \(excerpt(of: data, at: []))")
        }
    }

    private func failure(_ message: String, underlying: (any Error)? = nil) -> HTTPError {
        HTTPError(
            .decoding, message, request: response?.request, response: response, underlying: underlying, trace: trace,
            progress: .answered)
    }

    /// What the decoder complains about, and where. Its own description isn't used: it may quote values.
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

    /// The part of a body at a path, or as near to it as there is one; bounded, and without what looks like a secret.
    private func excerpt(of data: Data, at path: [JSONStep]) -> String {
        let place = base + path
        if place.contains(where: { if case .key(let key) = $0 { SecretText.isSecret(key) } else { false } }) {
            return "the body there is withheld"
        }
        let part = Self.part(of: data, nearest: path)
        guard !part.isEmpty else { return "the body is empty" }
        // Nothing tells what a lone string is, so it may be a secret.
        if place.isEmpty, part.first == UInt8(ascii: "\"") { return "the body is a string of \(part.count - 2) bytes" }
        // Cut before it is looked at, so that the work is bounded as well; a secret that is cut is withheld all the same.
        let text = String(decoding: part.prefix(4 * Self.excerptLength), as: UTF8.self)
        let shown = SecretText.withheld(text.split(whereSeparator: \.isWhitespace).joined(separator: " "))
        let isCut = shown.count > Self.excerptLength || part.count > 4 * Self.excerptLength
        return "the body there: \(shown.prefix(Self.excerptLength))\(isCut ? "…" : "")"
    }

    private static func part(of data: Data, nearest path: [JSONStep]) -> Data {
        switch try? JSONScanner.find(path, in: data) {
        case .found(let range): data.part(range)
        case .missing(let depth, _): part(of: data, nearest: Array(path[..<depth]))
        case nil: data
        }
    }
}

extension Data {
    fileprivate func part(_ range: Range<Int>) -> Data { Data(dropFirst(range.lowerBound).prefix(range.count)) }
}

extension DecodingError.Context {
    fileprivate var steps: [JSONStep] { codingPath.map { JSONStep($0) } }
}
