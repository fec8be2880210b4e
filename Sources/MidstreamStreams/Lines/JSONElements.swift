public import Foundation
public import MidstreamCore

extension HTTPBody {
    /// The body as JSON values, one in each line, while it arrives (NDJSON, JSON Lines). Empty lines are skipped.
    ///
    /// - Parameters:
    ///   - type: What each line is decoded as.
    ///   - limit: How many bytes a line may have; 1 MiB by default.
    ///   - skipsBadLines: Whether a line that can't be decoded is passed over; by default it ends the sequence with
    ///     ``HTTPError/Code/decoding``, which has the line's place and doesn't quote it.
    ///   - decoder: A plain `JSONDecoder` by default.
    public func jsonLines<Value: Decodable>(
        _ type: Value.Type = Value.self, upTo limit: Int = 1 << 20, skipsBadLines: Bool = false,
        decoder: any BodyDecoder = JSONDecoder()
    ) -> ElementSequence<Value> {
        ElementSequence(
            JSONElements(body: self, limit: limit, skipsBad: skipsBadLines, isSequence: false, decoder: decoder))
    }

    /// The body as JSON values in a JSON text sequence, while it arrives (RFC 7464, `application/json-seq`).
    ///
    /// - Parameters:
    ///   - type: What each text is decoded as.
    ///   - limit: How many bytes a text may have; 1 MiB by default.
    ///   - skipsBadTexts: Whether a text that is cut off or can't be decoded is passed over (RFC 7464 §2.3); by default it ends the sequence
    ///     with an error.
    ///   - decoder: A plain `JSONDecoder` by default.
    public func jsonSequence<Value: Decodable>(
        _ type: Value.Type = Value.self, upTo limit: Int = 1 << 20, skipsBadTexts: Bool = false,
        decoder: any BodyDecoder = JSONDecoder()
    ) -> ElementSequence<Value> {
        ElementSequence(
            JSONElements(body: self, limit: limit, skipsBad: skipsBadTexts, isSequence: true, decoder: decoder))
    }
}

extension HTTPResponse {
    /// The body as JSON values, one in each line, while it arrives: ``HTTPBody/jsonLines(_:upTo:skipsBadLines:decoder:)`` by the decoder
    /// that ``decode(_:decoder:)`` uses.
    ///
    /// - Parameter decoder: nil, the default: the request's or the client's.
    public func jsonLines<Value: Decodable>(
        _ type: Value.Type = Value.self, upTo limit: Int = 1 << 20, skipsBadLines: Bool = false,
        decoder: (any BodyDecoder)? = nil
    ) -> ElementSequence<Value> {
        let decoder = decoder ?? self.decoder ?? JSONDecoder()
        return body.jsonLines(type, upTo: limit, skipsBadLines: skipsBadLines, decoder: decoder)
    }
}

/// JSON values that arrive one after the other; see ``HTTPBody/jsonLines(_:upTo:skipsBadLines:decoder:)`` and
/// ``HTTPBody/jsonSequence(_:upTo:skipsBadTexts:decoder:)``.
private struct JSONElements<Element: Decodable>: ElementSource {
    let body: HTTPBody
    let limit: Int
    let skipsBad: Bool
    let isSequence: Bool
    let decoder: any BodyDecoder

    struct Iterator: ElementIterator {
        private let elements: JSONElements
        /// One of the two.
        private var lines: LineReader?
        private var records: JSONRecordReader?

        init(_ elements: JSONElements) {
            self.elements = elements
            if elements.isSequence {
                records = JSONRecordReader(elements.body, limit: elements.limit)
            } else {
                lines = LineReader(elements.body, limit: elements.limit)
            }
        }

        mutating func elementAtHand() throws -> Element? {
            while let line = try lines?.lineAtHand(Data.content(of:)) {
                if let element = try element(of: line) { return element }
            }
            return nil
        }

        nonisolated(nonsending) mutating func next() async throws -> Element? {
            while let line = try await lines?.next(Data.content(of:)) {
                if let element = try element(of: line) { return element }
            }
            while let record = try await records?.next() {
                let place = { "Text \(record.number), at byte \(record.offset)," }
                if let element = try element(of: Data(record.bytes), at: place, isWhole: record.isWhole) { return element }
            }
            return nil
        }

        private mutating func element(of line: Data?) throws -> Element? {
            guard let line, let place = lines?.place else { return nil }
            return try element(of: line, at: { "Line \(place.number), at byte \(place.offset)," }, isWhole: true)
        }

        /// What a text is decoded as; nil when it is passed over.
        ///
        /// - Parameter place: Where it is in the body, as errors call it.
        private mutating func element(of text: Data, at place: () -> String, isWhole: Bool) throws -> Element? {
            let failure: HTTPError
            do {
                if isWhole { return try elements.decoder.decode(Element.self, from: text) }
                failure = HTTPError(.decoding, "\(place()) is no whole JSON text.", phase: .answered)
            } catch {
                failure = JSONDecoding(of: nil, named: place()).failure(of: Element.self, error)
            }
            if elements.skipsBad { return nil }
            lines?.fail()
            records?.fail()
            throw failure
        }
    }

    func makeIterator() -> Iterator { Iterator(self) }
}

extension Data {
    /// That of a line; nil for an empty one.
    fileprivate static func content(of line: UnsafeBufferPointer<UInt8>) -> Data? {
        line.allSatisfy(\.isJSONSpace) ? nil : Data(line)
    }
}
