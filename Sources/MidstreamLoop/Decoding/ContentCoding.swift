#if os(Linux)
    package import MidstreamCore

    /// A content coding (RFC 9110 §8.4.1) that can be undone.
    package enum ContentCoding: Sendable {
        case gzip, deflate, brotli, zstandard

        /// - Returns: nil for what isn't known here.
        init?(_ name: Substring) {
            switch name.lowercased() {
            case "gzip", "x-gzip": self = .gzip
            case "deflate": self = .deflate
            case "br": self = .brotli
            case "zstd": self = .zstandard
            default: return nil
            }
        }

        /// Whether the library that undoes it is there.
        var isKnown: Bool {
            switch self {
            case .gzip, .deflate: ZlibDecoder.library != nil
            case .brotli: BrotliDecoder.library != nil
            case .zstandard: ZstandardDecoder.library != nil
            }
        }

        /// What undoes it; nil when its library isn't there, or for want of memory.
        func makeDecoder() -> (any ContentDecoder)? {
            switch self {
            case .gzip: ZlibDecoder(isGzip: true)
            case .deflate: ZlibDecoder(isGzip: false)
            case .brotli: BrotliDecoder()
            case .zstandard: ZstandardDecoder()
            }
        }

        /// What `Accept-Encoding` offers; nil: nothing.
        package static func offer(zstandard: Bool) -> String? {
            var names: [String] = []
            if Self.gzip.isKnown { names.append("gzip") }
            if Self.brotli.isKnown { names.append("br") }
            if zstandard, Self.zstandard.isKnown { names.append("zstd") }
            return names.isEmpty ? nil : names.joined(separator: ", ")
        }

        /// Those that a `Content-Encoding` names, in the order in which they were applied. `identity` is none (RFC 9110 §12.5.3).
        ///
        /// None either where one isn't known: some servers send names that are no codings of HTTP, such as `utf-8` or `aws-chunked`, and
        /// what can't be undone is better left as it came, with its field.
        package static func undoable(in field: String) -> [ContentCoding] {
            var codings: [ContentCoding] = []
            for name in field.split(whereSeparator: { $0 == "," || $0 == " " || $0 == "\t" }) {
                if name.lowercased() == "identity" { continue }
                guard let coding = ContentCoding(name), coding.isKnown else { return [] }
                codings.append(coding)
            }
            return codings
        }
    }

    /// Undoes one content coding, in steps of a bounded size.
    ///
    /// Touched only on the thread of the loop that made it.
    protocol ContentDecoder: AnyObject {
        /// Whether there may be more to get although no more has come in.
        var holdsOutput: Bool { get }
        /// Whether what has come in so far is whole.
        var isComplete: Bool { get }
        /// Takes from the front of `input` and fills `output` from its front; returns how many bytes that are.
        ///
        /// - Throws: When the input isn't what the coding makes.
        func decode(
            _ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
        ) throws(DecodingFault) -> Int
    }

    /// Why a body can't be decoded.
    package enum DecodingFault: Error {
        case corrupt
        /// It grows by more than is allowed.
        case tooLarge
        case tooManyCodings
        case noMemory
        case truncated

        package func error(_ request: HTTPRequest, ratio: Int?) -> HTTPError {
            let message =
                switch self {
                case .tooLarge: "Decoded, the body is more than \(ratio ?? 0) times as large as what was received."
                case .corrupt: "The body isn't encoded as its Content-Encoding says."
                case .tooManyCodings: "The body is encoded more than twice."
                case .noMemory: "There is no memory to decode the body."
                case .truncated: "The encoded body ends too early."
                }
            let error = HTTPError(self == .tooLarge ? .bodyTooLarge : .decoding, message, request: request, phase: .answered)
            // The connection may have broken: without an encoding that would be told as such.
            return self == .truncated ? error.forNow : error
        }
    }
#endif
