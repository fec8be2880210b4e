#if os(Linux)
    @testable import MidstreamCore
    @testable import MidstreamLoop
    @testable import MidstreamWire

    /// Has the wire find the parts of responses, however the bytes are cut. The first byte says how bodies are framed.
    struct WireResponses: ~Copyable {
        /// What was found.
        enum Part: Equatable {
            case head([UInt8], status: Int)
            case body([UInt8])
            case trailer([UInt8])
            case end
            case violation
        }

        private var reader = ResponseReader()
        /// Reads the fields; what it refuses is read on here.
        private var fields = HeadReader()
        private let framing: ResponseReader.Framing
        /// Nil when nobody wants to know.
        private var parts: [Part]?
        private var isOver = false

        private init(_ framing: ResponseReader.Framing, parts: [Part]?) {
            self.framing = framing
            self.parts = parts
        }

        static func framing(_ first: UInt8) -> ResponseReader.Framing {
            switch first {
            case UInt8(ascii: "c"): .chunked
            case UInt8(ascii: "e"): .length(0)
            case UInt8(ascii: "u"): .connection
            default: .length(Int64(first))
            }
        }

        /// Reads what the bytes stand for.
        static func read(_ bytes: [UInt8]) { _ = read(bytes, cutAt: [], into: nil) }

        /// Reads what the bytes stand for, in pieces, and tells what came of it.
        ///
        /// - Parameter cuts: Ascending.
        static func parts(_ bytes: [UInt8], cutAt cuts: [Int]) -> [Part] { read(bytes, cutAt: cuts, into: []) ?? [] }

        private static func read(_ bytes: [UInt8], cutAt cuts: [Int], into parts: [Part]?) -> [Part]? {
            guard let first = bytes.first else { return parts }
            var responses = WireResponses(framing(first), parts: parts)
            bytes.withUnsafeBytes { bytes in
                var start = 1
                for cut in cuts + [bytes.count] where cut > start && !responses.isOver {
                    var input = UnsafeRawBufferPointer(rebasing: bytes[start..<cut])
                    while responses.takePart(of: &input) {}
                    // What is left is handed over again.
                    start = cut - input.count
                }
            }
            return responses.parts
        }

        /// False when more is needed, or nothing helps.
        private mutating func takePart(of input: inout UnsafeRawBufferPointer) -> Bool {
            switch reader.next(&input) {
            case .none: return false
            case .head(let head, let status):
                parts?.append(.head([UInt8](head), status: status))
                readFields(of: head, status: status)
                if !(100..<200 ~= status) { reader.begin(framing) }
            case .body(let count):
                // Not always all of it, as when a reader has no room.
                let count = max(1, count - count / 3)
                var piece: [UInt8] = []
                if case .body(let before) = parts?.last {
                    parts?.removeLast()
                    piece = before
                }
                piece += input.prefix(count)
                parts?.append(.body(piece))
                reader.take(count)
                input = UnsafeRawBufferPointer(rebasing: input[count...])
            case .trailer(let line):
                parts?.append(.trailer([UInt8](line)))
                _ = fields.read(trailer: line)
            case .end:
                parts?.append(.end)
                _ = fields.takeTrailers()
                fields = HeadReader()
                reader.reset()
            case .violation:
                parts?.append(.violation)
                isOver = true
                return false
            }
            return true
        }

        private mutating func readFields(of head: UnsafeRawBufferPointer, status: Int) {
            switch fields.read(head, status: status) {
            case .complete(let read):
                _ = Persistence(read, HTTPHeaders(lines: read.bytes), request: nil, status: status, version: fields.version)
                for case .once(let place) in [read.contentLength, read.contentEncoding, read.transferEncoding] {
                    _ = read.number(at: place)
                }
            case .interim, .refused: break
            }
        }
    }
#endif
