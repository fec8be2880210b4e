#if os(Linux)
    import Glibc
    @testable import MidstreamCore
    @testable import MidstreamCurl
    @testable import MidstreamLoop

    /// Has the libcurl transport read heads and trailers as curl hands them over: line by line, one response after the other.
    final class ReceivedHeads: HandleUser {
        /// What came of it, in a form that can be compared.
        enum Part: Equatable {
            /// In the form of ``HTTPHeaders/bytes``.
            case head(status: Int, fields: [UInt8], framing: [Framing])
            case trailers([UInt8])
            case refused
        }

        /// What is known of a field that frames or encodes the body.
        enum Framing: Equatable {
            case absent, odd
            case once(value: [UInt8], number: Int64?)
        }

        // The only one, since each costs more than what is read with it. All parsers run on one thread.
        private nonisolated(unsafe) static let handle = EasyHandle()
        private nonisolated(unsafe) static let clock = {
            let clock = UnsafeMutablePointer<UInt64>.allocate(capacity: 1)
            clock.initialize(to: 1)
            return clock
        }()

        private var reader = HeadReader()
        private let response: UnsafeMutablePointer<ResponseBuffer>
        /// Nil when nobody wants to know.
        private var parts: [Part]?

        private init(_ handle: EasyHandle, parts: [Part]?) {
            response = handle.response
            self.parts = parts
            begin()
        }

        /// Reads what the bytes stand for.
        static func read(_ bytes: [UInt8]) { _ = read(bytes, into: nil) }

        /// Reads what the bytes stand for, and tells what came of it.
        static func parts(_ bytes: [UInt8]) -> [Part] { read(bytes, into: []) ?? [] }

        private static func read(_ bytes: [UInt8], into parts: [Part]?) -> [Part]? {
            guard let handle else { return nil }
            let heads = ReceivedHeads(handle, parts: parts)
            handle.user = heads
            defer { handle.user = nil }
            bytes.withUnsafeBytes { bytes in
                forEachLine(bytes) { heads.take($0) }
            }
            return heads.parts
        }

        /// A line ends with its line feed. Where the first byte is 0xFF this byte divides them, so that they can have line feeds anywhere.
        private static func forEachLine(_ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void) {
            guard let base = bytes.baseAddress else { return }
            let isDivided = bytes.first == 0xFF
            var start = isDivided ? 1 : 0
            while start < bytes.count {
                let mark = memchr(base + start, isDivided ? 0xFF : 10, bytes.count - start)
                let end = mark.map { UnsafeRawPointer($0) - base } ?? bytes.count
                body(UnsafeRawBufferPointer(rebasing: bytes[start..<(isDivided ? end : min(end + 1, bytes.count))]))
                start = end + 1
            }
        }

        private func take(_ line: UnsafeRawBufferPointer) {
            let isTrailer = reader.isComplete
            guard HandleCallbacks.take(line: line, response) else {
                parts?.append(.refused)
                return begin()
            }
            guard isTrailer, line.first == 13 || line.first == 10 else { return }
            let trailers = reader.takeTrailers()
            parts?.append(.trailers(trailers?.bytes ?? []))
            begin()
        }

        /// Waits for another response.
        private func begin() {
            reader = HeadReader()
            response.pointee.begin(clock: Self.clock)
        }

        // MARK: HandleUser

        func receiveHead() -> Bool {
            let head = response.pointee.head
            switch reader.read(head, status: Self.status(head)) {
            case .interim(let fields):
                note(fields)
                response.pointee.beginNextHead()
                return true
            case .complete(let fields):
                note(fields)
                response.pointee.endHeads()
                return true
            case .refused: return false
            }
        }

        private func note(_ fields: ReceivedFields) {
            guard parts != nil else { return }
            let framing = [fields.contentLength, fields.contentEncoding, fields.transferEncoding].map { field in
                switch field {
                case .absent: Framing.absent
                case .odd: Framing.odd
                case .once(let place): Framing.once(value: Array(fields.bytes[place]), number: fields.number(at: place))
                }
            }
            parts?.append(.head(status: reader.status, fields: fields.bytes, framing: framing))
        }

        /// Three digits behind the first space of the first line; what curl has read otherwise.
        static func status(_ head: some Collection<UInt8>) -> Int {
            let digits = head.prefix(16).prefix { $0 != 10 }.drop { $0 != 32 }.dropFirst().prefix(3)
            return digits.count == 3 && digits.allSatisfy { 48...57 ~= $0 } ? digits.reduce(0) { $0 * 10 + Int($1 - 48) } : 200
        }

        func refuseHead() {}
        func receive(trailer line: UnsafeRawBufferPointer) -> Bool { reader.read(trailer: line) == nil }
        func receive(_ bytes: UnsafeRawBufferPointer) -> Int { bytes.count }
        func send(into buffer: UnsafeMutableRawBufferPointer) -> Int { 0 }
        func trailerLines() -> [[CChar]] { [] }
        func willSend(over ends: ConnectionEnds, localPort: Int32) -> Bool { true }
        func lookAtConnection() {}
    }
#endif
