#if os(Linux)
    internal import CNghttp2
    import Glibc
    internal import MidstreamCore
    internal import MidstreamLoop

    /// The fields of a request, or of its trailers, as HTTP/2 has them: names in small letters, and none that speak of the connection
    /// (RFC 9113 §8.2).
    struct HTTP2Fields {
        private var bytes: [UInt8] = []
        /// Where a name begins, where its value does, and where that ends.
        private var places: [(name: Int, value: Int, end: Int)] = []

        init(trailers: HTTPHeaders) { append(trailers) }

        /// Those of a request, with what its framing adds to them.
        init(_ head: RequestHead) {
            var url = head.request.urlText
            let ownHost = head.request.headers["Host"]
            places.reserveCapacity(12)
            bytes.reserveCapacity(2 * url.utf8.count + head.request.headers.bytes.count + 128)
            url.withUTF8 { url in
                let parts = TargetParts(url)
                append(":method", head.request.method.rawValue)
                append(":scheme", head.request.urlText.hasSecureScheme ? "https" : "http")
                if let ownHost { append(":authority", ownHost) } else { append(":authority", parts.host(in: url)) }
                let path = url[parts.path..<parts.end]
                begin(":path")
                if path.first != 47 { bytes.append(47) }
                bytes += UnsafeBufferPointer(rebasing: path)
                end()
            }
            if let acceptEncoding = head.acceptEncoding { append("accept-encoding", acceptEncoding) }
            append(head.request.headers)
            if let mediaType = head.mediaType { append("content-type", mediaType) }
            if case .length(let length) = head.bodyFraming { append("content-length", String(length)) }
        }

        private mutating func append(_ headers: HTTPHeaders) {
            RequestFields.forEach(in: headers) { line, colon, kind in
                let name = UnsafeBufferPointer(rebasing: line[..<colon])
                guard !kind.framesMessage, !Self.isOfConnection(name, line) else { return }
                places.append((bytes.count, 0, 0))
                let start = bytes.count
                bytes += name
                for place in start..<bytes.count { bytes[place] = bytes[place].asciiLowercased }
                places[places.count - 1].value = bytes.count
                bytes += UnsafeBufferPointer(rebasing: line[(colon + 1)...])
                end()
            }
        }

        private mutating func begin(_ name: StaticString) {
            places.append((bytes.count, bytes.count + name.utf8CodeUnitCount, 0))
            name.withUTF8Buffer { bytes += $0 }
        }

        private mutating func end() { places[places.count - 1].end = bytes.count }

        private mutating func append(_ name: StaticString, _ value: String) {
            var value = value
            value.withUTF8 { append(name, $0) }
        }

        private mutating func append(_ name: StaticString, _ value: UnsafeBufferPointer<UInt8>) {
            begin(name)
            bytes += value
            end()
        }

        /// RFC 9113 §8.2.2; the host is in a pseudo-field.
        private static func isOfConnection(_ name: UnsafeBufferPointer<UInt8>, _ line: UnsafeBufferPointer<UInt8>) -> Bool {
            switch name.count {
            case 2: name.isFieldName("te") && !(line.count == 11 && line.isFieldName("te:trailers"))
            case 4: name.isFieldName("host")
            case 7: name.isFieldName("upgrade")
            case 10: name.isFieldName("connection") || name.isFieldName("keep-alive")
            case 16: name.isFieldName("proxy-connection")
            default: false
            }
        }

        /// How many bytes they take at most, compressed or not: each of a field's two lengths may have six (RFC 7541 §5.1).
        var largestSize: Int { bytes.count + 12 * places.count }

        /// Calls `body` with the fields as nghttp2 takes them.
        func withValues<Value>(_ body: (UnsafeBufferPointer<nghttp2_nv>) -> Value) -> Value {
            bytes.withUnsafeBufferPointer { bytes in
                withUnsafeTemporaryAllocation(of: nghttp2_nv.self, capacity: places.count) { values in
                    // nghttp2 only reads them.
                    let base = UnsafeMutablePointer(mutating: bytes.baseAddress)
                    for (number, place) in places.enumerated() {
                        values.initializeElement(
                            at: number,
                            to: nghttp2_nv(
                                name: base.map { $0 + place.name }, value: base.map { $0 + place.value },
                                namelen: place.value - place.name, valuelen: place.end - place.value,
                                flags: UInt8(NGHTTP2_NV_FLAG_NONE.rawValue)))
                    }
                    return body(UnsafeBufferPointer(values))
                }
            }
        }
    }
#endif
