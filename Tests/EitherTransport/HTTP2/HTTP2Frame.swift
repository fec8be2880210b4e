#if os(Linux)
    /// A frame (RFC 9113 §4.1), well formed or not.
    enum HTTP2Frame {
        enum Kind: UInt8 {
            case data, headers, priority, reset, settings, pushPromise, ping, goAway, windowUpdate, continuation
            /// One that nobody knows, and everybody ignores (§5.5).
            case unknown = 0x77
        }

        static let endStream: UInt8 = 1
        static let acknowledgement: UInt8 = 1
        static let endHeaders: UInt8 = 4
        static let padded: UInt8 = 8

        static func make(_ kind: Kind, _ flags: UInt8 = 0, stream: UInt32 = 0, _ payload: [UInt8] = []) -> [UInt8] {
            Array(payload.count.bigEndian(3)) + [kind.rawValue, flags] + Int(stream).bigEndian(4) + payload
        }

        /// The head of a response, or trailers.
        static func headers(_ fields: [HPACKField], _ flags: UInt8 = endHeaders, stream: UInt32) -> [UInt8] {
            make(.headers, flags, stream: stream, fields.encoded)
        }

        static func data(_ text: String, end: Bool = false, stream: UInt32) -> [UInt8] {
            make(.data, end ? endStream : 0, stream: stream, Array(text.utf8))
        }

        static func settings(_ values: (UInt16, UInt32)...) -> [UInt8] {
            make(.settings, 0, values.flatMap { Int($0).bigEndian(2) + Int($1).bigEndian(4) })
        }

        static func reset(_ code: UInt32, stream: UInt32) -> [UInt8] {
            make(.reset, stream: stream, Int(code).bigEndian(4))
        }

        static func windowUpdate(_ increment: UInt32, stream: UInt32) -> [UInt8] {
            make(.windowUpdate, stream: stream, Int(increment).bigEndian(4))
        }

        static func goAway(last: UInt32, _ code: UInt32 = 0) -> [UInt8] {
            make(.goAway, 0, Int(last).bigEndian(4) + Int(code).bigEndian(4))
        }

        /// A whole response.
        static func response(_ body: String = "ok", _ fields: [HPACKField] = [], stream: UInt32) -> [UInt8] {
            headers([.ok] + fields, stream: stream) + data(body, end: true, stream: stream)
        }
    }

    /// A field, as a literal without indexing and without Huffman's code (RFC 7541 §6.2.2).
    struct HPACKField: Sendable {
        let name: [UInt8]
        let value: [UInt8]

        init(_ name: String, _ value: String) {
            self.name = Array(name.utf8)
            self.value = Array(value.utf8)
        }

        static let ok = HPACKField(":status", "200")

        var encoded: [UInt8] { [0] + Self.string(name) + Self.string(value) }

        /// RFC 7541 §5.2.
        static func string(_ bytes: [UInt8]) -> [UInt8] { integer(bytes.count, prefix: 7) + bytes }

        /// RFC 7541 §5.1.
        private static func integer(_ value: Int, prefix: Int) -> [UInt8] {
            let most = 1 << prefix - 1
            guard value >= most else { return [UInt8(value)] }
            var bytes = [UInt8(most)]
            var rest = value - most
            while rest > 127 {
                bytes.append(UInt8(rest & 127 | 128))
                rest >>= 7
            }
            return bytes + [UInt8(rest)]
        }
    }

    extension [HPACKField] {
        var encoded: [UInt8] { flatMap(\.encoded) }
    }

    extension Int {
        fileprivate func bigEndian(_ count: Int) -> [UInt8] {
            (0..<count).reversed().map { UInt8(truncatingIfNeeded: self >> ($0 * 8)) }
        }
    }
#endif
