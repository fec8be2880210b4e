internal import Foundation

/// A body of several parts, each with a head of its own, sent as `multipart/…` (RFC 2046 §5.1).
///
/// Parts are read while it is sent, so a large file takes no memory. When the length of every part is known, so is that of the
/// whole.
public struct Multipart: Sendable {
    fileprivate struct Part: Sendable {
        let head: [UInt8]
        let content: HTTPBody
    }

    /// What separates the parts; random.
    public let boundary: String
    /// The subtype with its parameters.
    fileprivate let subtype: String
    private var parts: [Part] = []
    /// The first field that can't be sent.
    private var refused: HTTPHeaders.Name?

    /// Makes a body without parts, of the subtype `mixed`: independent parts in an order (RFC 2046 §5.1.3).
    ///
    /// - Parameter boundary: A text of at most 70 characters that occurs in no part; random by default. Sending fails with
    ///   ``HTTPError/Code/invalidRequest`` when it can't be one (RFC 2046 §5.1.1), or occurs in a part that is in memory.
    public init(boundary: String = randomBoundary()) { self.init(subtype: "mixed", boundary: boundary) }

    init(subtype: String, boundary: String) {
        self.subtype = subtype
        self.boundary = boundary
    }

    /// A body without parts of the subtype `related`: parts of one whole (RFC 2387).
    ///
    /// - Parameters:
    ///   - type: The media type of the root, which is the first part unless `start` names another.
    ///   - start: The `Content-ID` of the root, with its angle brackets.
    ///   - boundary: As for ``init(boundary:)``.
    public static func related(type: String, start: String? = nil, boundary: String = randomBoundary()) -> Multipart {
        Multipart(
            subtype: "related; type=\(type.withoutControls.quoted)"
                + (start.map { "; start=\($0.withoutControls.quoted)" } ?? ""), boundary: boundary)
    }

    /// A boundary that occurs in no part, as far as anyone can tell.
    public static func randomBoundary() -> String { "midstream-" + UUID().uuidString }

    /// Adds a part.
    ///
    /// - Parameters:
    ///   - content: What is in it, such as bytes, a file or a stream.
    ///   - headers: Its head. Without a `Content-Type` it has that of the content, if there is one.
    public mutating func add(_ content: HTTPBody, headers: HTTPHeaders = [:]) {
        var headers = headers
        if let type = content.contentType, !headers.contains(.contentType) { headers[.contentType] = type }
        add(content, head: [], headers)
    }

    /// Adds a part with a head of which some lines are written out.
    mutating func add(_ content: HTTPBody, head lines: [UInt8], _ headers: HTTPHeaders) {
        var head = Array("--\(boundary)\r\n".utf8) + lines
        for (name, value) in headers { head += Array("\(name): \(value)\r\n".utf8) }
        refused = refused ?? headers.refused.first
        parts.append(Part(head: head + [13, 10], content: content))
    }

    /// How many parts there are.
    public var count: Int { parts.count }

    private var end: [UInt8] { Array("--\(boundary)--\r\n".utf8) }

    fileprivate var length: Int64? {
        var total = Int64(end.count)
        for part in parts {
            guard let length = part.content.length else { return nil }
            for count in [Int64(part.head.count) + 2, length] {
                let (sum, isTooLarge) = total.addingReportingOverflow(count)
                // A part may be a response's body, of which a server can say what it likes.
                if isTooLarge { return nil }
                total = sum
            }
        }
        return total
    }

    fileprivate var isReplayable: Bool { parts.allSatisfy { $0.content.replayability == .replayable } }

    /// Why it can't be sent; nil when it can.
    fileprivate var problem: HTTPError? {
        if let refused { return .init(.invalidRequest, "A part has a field that can't be sent: \(refused).", phase: .notSent) }
        guard boundary.isBoundary else {
            return HTTPError(.invalidRequest, "A boundary of \(boundary.utf8.count) bytes isn't one.", phase: .notSent)
        }
        let delimiter = Array("--\(boundary)".utf8)
        for (number, part) in parts.enumerated() where part.content.bytes?.contains(run: delimiter) == true {
            return HTTPError(
                .invalidRequest, "The boundary occurs in part \(number + 1), which would end there.", phase: .notSent)
        }
        return nil
    }

    fileprivate func chunks() -> ChunkIterator {
        var parts = parts.makeIterator()
        // With how many bytes are still to come where a length was said: the transport compares that of the whole, if there is one.
        var content: (chunks: HTTPBody.AsyncIterator, left: Int64?)?
        var isAtEnd = false
        return ChunkIterator {
            if var current = content {
                if let chunk = try await current.chunks.next() {
                    current.left = current.left.map { $0 - Int64(chunk.count) }
                    content = current
                    return chunk
                }
                guard current.left ?? 0 == 0 else { throw HTTPError(.bodyUnreadable, "A part isn't as long as announced.") }
                content = nil
                return [13, 10]
            }
            if let part = parts.next() {
                // A file may have grown, and its length isn't announced.
                content = (part.content.makeAsyncIterator(), part.content.filePath == nil ? part.content.length : nil)
                return part.head
            }
            defer { isAtEnd = true }
            return isAtEnd ? nil : end
        }
    }
}

extension Multipart: CustomStringConvertible, CustomReflectable {
    /// How many parts it has; never what is in them.
    public var description: String { "multipart of \(count) parts" }
    /// Shows what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["multipart": description]) }
}

extension HTTPBody {
    /// A body of several parts. It can be sent again when each of its parts can.
    public static func multipart(_ multipart: Multipart) -> HTTPBody {
        let boundary = multipart.boundary.isToken ? multipart.boundary : multipart.boundary.withoutControls.quoted
        let type = "multipart/\(multipart.subtype); boundary=\(boundary)"
        if let problem = multipart.problem { return .failing(problem, contentType: type) }
        if multipart.isReplayable {
            return HTTPBody(.stream(FreshChunks(length: multipart.length) { multipart.chunks() }), contentType: type)
        }
        return HTTPBody(.once(OnceChunks(length: multipart.length) { multipart.chunks() }), contentType: type)
    }
}

extension String {
    /// Whether the text can separate parts (RFC 2046 §5.1.1).
    package var isBoundary: Bool {
        1...70 ~= utf8.count && utf8.last != 32
            && utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                default: Self.otherBoundaryBytes.contains(byte)
                }
            }
    }

    private static var otherBoundaryBytes: [UInt8] { Array("'()+_,-./:=? ".utf8) }
}

extension [UInt8] {
    /// Whether the bytes occur one after the other. The time may grow with the product of both lengths; a delimiter has 72 bytes at most.
    fileprivate func contains(run: [UInt8]) -> Bool {
        guard let first = run.first else { return true }
        return withUnsafeBufferPointer { all in
            var place = 0
            while place + run.count <= all.count, let start = all[place...(all.count - run.count)].firstIndex(of: first) {
                if all[start..<(start + run.count)].elementsEqual(run) { return true }
                place = start + 1
            }
            return false
        }
    }
}
