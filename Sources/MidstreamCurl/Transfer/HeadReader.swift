#if Curl && os(Linux)
    internal import CCurl
    import Glibc
    internal import MidstreamCore

    /// Puts the head of a response together from the lines that curl hands over, and the trailers after it.
    ///
    /// Each new status line begins a new head, since interim responses (1xx) come before the final one. What comes after the
    /// empty line that ends the final head are trailers.
    struct HeadReader: ~Copyable {
        enum Progress {
            case more
            /// The final head is complete.
            case complete
            case tooLarge
        }

        /// The largest head, and the most trailers, that are taken: 256 KiB.
        static let sizeLimit = 256 << 10

        private var fields = HTTPHeaders.FieldBuffer()
        private var trailerFields = HTTPHeaders.FieldBuffer()
        private var size = 0
        private(set) var status = 0
        private(set) var version = HTTPVersion.http1_1
        private(set) var isComplete = false

        /// Takes one line, with its end.
        mutating func read(_ line: UnsafeRawBufferPointer) -> Progress {
            size += line.count
            guard size <= Self.sizeLimit else { return .tooLarge }
            let isEmpty = line.first == UInt8(ascii: "\r") || line.first == UInt8(ascii: "\n")
            if isComplete {
                if !isEmpty { trailerFields.append(line: line) }
                return .more
            }
            if line.count >= 5, let start = line.baseAddress, memcmp(start, "HTTP/", 5) == 0 {
                fields = HTTPHeaders.FieldBuffer()
                size = line.count
                readStatus(line)
            } else if !isEmpty {
                fields.append(line: line)
            } else if !(100..<200 ~= status) {
                isComplete = true
                size = 0
                return .complete
            }
            return .more
        }

        /// The fields of the head; they are handed over, not copied.
        mutating func takeFields() -> HTTPHeaders {
            var taken = HTTPHeaders.FieldBuffer()
            swap(&taken, &fields)
            return HTTPHeaders(taken)
        }

        /// The trailers; nil when there were none.
        mutating func takeTrailers() -> HTTPHeaders? {
            guard !trailerFields.isEmpty else { return nil }
            var taken = HTTPHeaders.FieldBuffer()
            swap(&taken, &trailerFields)
            return HTTPHeaders(taken)
        }

        private mutating func readStatus(_ line: UnsafeRawBufferPointer) {
            let afterName = line[5...]
            version =
                switch afterName.first {
                case UInt8(ascii: "2"): .http2
                case UInt8(ascii: "3"): .http3
                default: afterName.starts(with: "1.0".utf8) ? .http1_0 : .http1_1
                }
            status = 0
            guard let space = afterName.firstIndex(of: UInt8(ascii: " ")) else { return }
            for byte in line[(space + 1)...].prefix(3) where 48...57 ~= byte { status = status * 10 + Int(byte - 48) }
        }
    }
#endif
