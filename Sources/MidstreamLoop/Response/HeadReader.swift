#if os(Linux)
    import Glibc
    package import MidstreamCore

    /// Reads the heads of a response, each of them whole, and puts the trailers together from their lines.
    ///
    /// Interim heads (1xx) come before the final one; what comes after it are trailers.
    package struct HeadReader: ~Copyable {
        package enum Progress {
            /// The head of an interim response.
            case interim(ReceivedFields)
            /// The final head.
            case complete(ReceivedFields)
            case refused(Fault)
        }

        /// What no server may send.
        package enum Fault: Error {
            case tooLarge, tooManyFields, tooManyInterim, foldedFirst, notAField, switchedProtocols
        }

        /// The largest head, and the most trailers, that are taken: 256 KiB.
        package static let sizeLimit = 256 << 10
        /// The most fields up to the end of the final head, interim heads and theirs included but for 102 and 104, and the most trailers.
        package static let lineLimit = 1_000

        /// The most interim responses to a request, 102 and 104 not counted.
        package static let interimLimit = 32

        /// Fields, and interim heads.
        private var lines = 0
        private var interim = 0
        package private(set) var status = 0
        package private(set) var version = HTTPVersion.http1_1
        package private(set) var isComplete = false
        /// The request asks for another protocol, so that a 101 is final.
        package var allowsSwitch = false
        private var trailerFields = HTTPHeaders.FieldBuffer()
        private var trailerSize = 0
        /// There is a field that a folded line can continue.
        private var isAfterTrailer = false

        package init() {}

        /// Reads the lines of a head, each with its only line feed at the end. The status is what the transport has read: that counts,
        /// since the body is framed by it.
        package mutating func read(_ head: UnsafeRawBufferPointer, status: Int) -> Progress {
            self.status = status
            readVersion(head)
            let fields: ReceivedFields
            do throws(Fault) {
                fields = try ReceivedFields(Self.withoutStatusLine(head), limit: Self.lineLimit - lines)
            } catch {
                return .refused(error)
            }
            guard status != 101 || allowsSwitch else { return .refused(.switchedProtocols) }
            guard 100..<200 ~= status, status != 101 else {
                isComplete = true
                lines = 0
                return .complete(fields)
            }
            // A server says as often as it likes how much of an upload it has, or that it is at work (102). It gets no more time for that: the
            // limits of the head go on.
            if status == 104 || status == 102 { return .interim(fields) }
            interim += 1
            guard interim <= Self.interimLimit else { return .refused(.tooManyInterim) }
            lines += fields.count + 1
            return lines <= Self.lineLimit ? .interim(fields) : .refused(.tooManyFields)
        }

        private static func withoutStatusLine(_ head: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
            guard let start = head.baseAddress, let feed = memchr(start, 10, head.count) else { return head }
            return UnsafeRawBufferPointer(rebasing: head[(UnsafeRawPointer(feed) - start + 1)...])
        }

        private mutating func readVersion(_ head: UnsafeRawBufferPointer) {
            // "HTTP/" comes before it.
            guard head.count > 7 else { return }
            switch (head[5], head[7]) {
            case (UInt8(ascii: "2"), _): version = .http2
            case (UInt8(ascii: "3"), _): version = .http3
            case (UInt8(ascii: "1"), UInt8(ascii: "0")): version = .http1_0
            default: version = .http1_1
            }
        }

        // MARK: Trailers

        /// Takes a line of the trailers, or the empty one after them; returns what is wrong with it.
        package mutating func read(trailer line: UnsafeRawBufferPointer) -> Fault? {
            trailerSize += line.count
            guard trailerSize <= Self.sizeLimit else { return .tooLarge }
            guard let first = line.first, first != 13, first != 10 else { return nil }
            if first == 32 || first == 9 {
                guard isAfterTrailer else { return .foldedFirst }
            } else {
                guard let colon = line.firstIndex(of: 58), colon > 0, !line[..<colon].contains(where: { $0 <= 32 || $0 == 127 })
                else { return .notAField }
                isAfterTrailer = true
            }
            trailerFields.append(line: line)
            lines += 1
            return lines <= Self.lineLimit ? nil : .tooManyFields
        }

        /// The trailers; nil when there were none.
        package mutating func takeTrailers() -> HTTPHeaders? {
            guard !trailerFields.isEmpty else { return nil }
            var taken = HTTPHeaders.FieldBuffer()
            swap(&taken, &trailerFields)
            return HTTPHeaders(taken)
        }
    }

    extension HeadReader.Fault {
        package var message: String {
            switch self {
            case .tooLarge: "The head or the trailers of the response are larger than \(HeadReader.sizeLimit) bytes."
            case .tooManyFields: "The head or the trailers of the response have more than \(HeadReader.lineLimit) fields."
            case .tooManyInterim: "More than \(HeadReader.interimLimit) interim responses came."
            case .foldedFirst: "The head or the trailers of the response begin with a folded line."
            case .notAField: "A line in the head or the trailers of the response is no field."
            case .switchedProtocols: "The server switched protocols unasked."
            }
        }
    }
#endif
