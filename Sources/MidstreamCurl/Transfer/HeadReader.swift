#if Curl && os(Linux)
    internal import CCurl
    import Glibc
    internal import MidstreamCore

    /// Puts the head of a response together from the lines that curl hands over, and the trailers after it.
    ///
    /// The first line of a head is its status line. After the empty line that ends an interim head (1xx) the next one begins;
    /// what comes after the empty line that ends the final head are trailers.
    struct HeadReader: ~Copyable {
        enum Progress {
            case more
            /// The head of an interim response is complete.
            case interim
            /// The final head is complete.
            case complete
            case refused(Fault)
        }

        /// What no server may send.
        enum Fault {
            case tooLarge, tooManyFields, foldedFirst, notAField, switchedProtocols
        }

        /// The largest head, and the most trailers, that are taken: 256 KiB.
        static let sizeLimit = 256 << 10
        /// The most fields up to the end of the final head, interim heads and theirs included, and the most trailers.
        static let lineLimit = 1_000

        private var fields = HTTPHeaders.FieldBuffer()
        private var trailerFields = HTTPHeaders.FieldBuffer()
        private var size = 0
        /// Fields, and interim heads.
        private var lines = 0
        private var isInsideHead = false
        /// There is a field that a folded line can continue.
        private var isAfterField = false
        private(set) var status = 0
        private(set) var version = HTTPVersion.http1_1
        private(set) var isComplete = false

        /// Takes one line, with its end.
        ///
        /// - Parameter statusCode: What curl has read in the last status line. Its reading counts, since it is the one by which
        ///   curl frames the body.
        mutating func read(_ line: UnsafeRawBufferPointer, statusCode: () -> Int) -> Progress {
            size += line.count
            guard size <= Self.sizeLimit else { return .refused(.tooLarge) }
            if isComplete { return readTrailer(line) }
            guard isInsideHead else {
                isInsideHead = true
                isAfterField = false
                fields = HTTPHeaders.FieldBuffer()
                size = line.count
                status = statusCode()
                readVersion(line)
                return .more
            }
            guard Self.isEmpty(line) else { return readField(line) }
            isInsideHead = false
            isAfterField = false
            guard status != 101 else { return .refused(.switchedProtocols) }
            if 100..<200 ~= status {
                if case .refused(let fault) = count() { return .refused(fault) }
                return .interim
            }
            isComplete = true
            size = 0
            lines = 0
            return .complete
        }

        private mutating func readTrailer(_ line: UnsafeRawBufferPointer) -> Progress {
            guard !Self.isEmpty(line) else { return .more }
            if let fault = check(line) { return .refused(fault) }
            trailerFields.append(line: line)
            return count()
        }

        private mutating func readField(_ line: UnsafeRawBufferPointer) -> Progress {
            if let fault = check(line) { return .refused(fault) }
            fields.append(line: line)
            return count()
        }

        private mutating func count() -> Progress {
            lines += 1
            return lines <= Self.lineLimit ? .more : .refused(.tooManyFields)
        }

        /// RFC 9112 §5: a field has a name, and its colon follows at once; whoever reads it otherwise may see another length of
        /// the body. A folded line (§5.2) continues a field.
        private mutating func check(_ line: UnsafeRawBufferPointer) -> Fault? {
            if let first = line.first, first == UInt8(ascii: " ") || first == UInt8(ascii: "\t") {
                return isAfterField ? nil : .foldedFirst
            }
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > 0,
                !line[..<colon].contains(where: { $0 <= UInt8(ascii: " ") || $0 == 127 })
            else { return .notAField }
            isAfterField = true
            return nil
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

        private static func isEmpty(_ line: UnsafeRawBufferPointer) -> Bool {
            line.first == UInt8(ascii: "\r") || line.first == UInt8(ascii: "\n")
        }

        private mutating func readVersion(_ line: UnsafeRawBufferPointer) {
            let number = line.dropFirst(5)
            version =
                switch number.first {
                case UInt8(ascii: "2"): .http2
                case UInt8(ascii: "3"): .http3
                default: number.starts(with: "1.0".utf8) ? .http1_0 : .http1_1
                }
        }
    }

    extension HeadReader.Fault {
        var message: String {
            switch self {
            case .tooLarge: "The head or the trailers of the response are larger than \(HeadReader.sizeLimit) bytes."
            case .tooManyFields: "The head or the trailers of the response have more than \(HeadReader.lineLimit) fields."
            case .foldedFirst: "The head or the trailers of the response begin with a folded line."
            case .notAField: "A line in the head or the trailers of the response is no field."
            case .switchedProtocols: "The server switched protocols unasked."
            }
        }
    }
#endif
