#if os(Linux)
    import Glibc
    internal import MidstreamCore
    internal import MidstreamLoop

    /// Writes the head of a request (RFC 9112 §3, RFC 9110 §7.2).
    struct RequestHead {
        enum BodyFraming: Equatable {
            case none
            case length(Int64)
            case chunked
        }

        let request: HTTPRequest
        let framing: RequestFraming
        let bodyFraming: BodyFraming
        /// What is offered to be decoded; nil: nothing.
        let acceptEncoding: String?
        /// Whether a proxy is to forward it, so that its target is the whole URL, with what it is told of the user.
        let isForwarded: Bool
        let proxyAuthorization: String?

        /// That of the body, where the request's fields don't name one.
        var mediaType: String? { framing.hasBody && !framing.has(.contentType) ? request.body.contentType : nil }

        /// As HTTP/1.1 has it.
        func bytes() -> [UInt8] {
            let mediaType = mediaType
            let url = request.urlText
            let room =
                request.method.rawValue.utf8.count + 2 * url.utf8.count + 2 * request.headers.bytes.count
                + (mediaType?.utf8.count ?? 0) + (proxyAuthorization?.utf8.count ?? 0) + 256
            return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: room) { buffer in
                var output = Output(buffer)
                var url = url
                url.withUTF8 { write($0, mediaType: mediaType, to: &output) }
                return [UInt8](UnsafeBufferPointer(rebasing: buffer[..<output.count]))
            }
        }

        private func write(_ url: UnsafeBufferPointer<UInt8>, mediaType: String?, to output: inout Output) {
            let parts = TargetParts(url)
            output.append(request.method.rawValue)
            output.append(" ")
            if isForwarded {
                output.append("http://")
                output.append(parts.host(in: url))
            }
            let path = url[parts.path..<parts.end]
            if path.first != 47 { output.append("/") }
            output.append(UnsafeBufferPointer(rebasing: path))
            output.append(" HTTP/1.1\r\n")
            // The field comes first (RFC 9110 §7.2), with the request's own value where it has one.
            var hasHost = false
            RequestFields.forEach(in: request.headers) { line, colon, kind in
                guard !hasHost, Self.isHost(line, colon, kind) else { return }
                hasHost = true
                output.append("Host: ")
                output.append(UnsafeBufferPointer(rebasing: line[(colon + 1)...]))
                output.append("\r\n")
            }
            if !hasHost {
                output.append("Host: ")
                output.append(parts.host(in: url))
                output.append("\r\n")
            }
            if let acceptEncoding { output.append("Accept-Encoding: ", acceptEncoding) }
            RequestFields.forEach(in: request.headers) { line, colon, kind in
                guard !kind.framesMessage, !Self.isHost(line, colon, kind) else { return }
                output.append(UnsafeBufferPointer(rebasing: line[...colon]))
                if colon + 1 < line.count { output.append(" ") }
                output.append(UnsafeBufferPointer(rebasing: line[(colon + 1)...]))
                output.append("\r\n")
            }
            if let mediaType { output.append("Content-Type: ", mediaType) }
            if let proxyAuthorization { output.append("Proxy-Authorization: ", proxyAuthorization) }
            switch bodyFraming {
            case .none: break
            case .length(let length): output.append("Content-Length: ", String(length))
            case .chunked: output.append("Transfer-Encoding: ", "chunked")
            }
            output.append("\r\n")
        }
    }

    extension RequestHead {
        private static func isHost(_ line: UnsafeBufferPointer<UInt8>, _ colon: Int, _ kind: RequestFields.Kind) -> Bool {
            colon == 4 && kind == .other && UnsafeBufferPointer(rebasing: line[..<4]).isFieldName("host")
        }
    }

    /// Where the parts of an http or https URL are that a request needs, in bytes.
    struct TargetParts {
        /// Without user and password, and without the scheme's own port.
        private let authority: Range<Int>
        /// Where the path begins, or what follows instead; without a fragment it ends at ``end``.
        let path: Int
        let end: Int

        init(_ url: UnsafeBufferPointer<UInt8>) {
            let isSecure = url.count > 4 && url[4] | 0x20 == 115
            var first = min(url.count, isSecure ? 8 : 7)
            var last = first
            while last < url.count, url[last] != 47, url[last] != 63, url[last] != 35 { last += 1 }
            path = last
            for place in first..<last where url[place] == 64 { first = place + 1 }
            authority = first..<Self.withoutOwnPort(url[first..<last], isSecure ? "443" : "80")
            var end = last
            while end < url.count, url[end] != 35 { end += 1 }
            self.end = end
        }

        private static func withoutOwnPort(_ authority: Slice<UnsafeBufferPointer<UInt8>>, _ port: StaticString) -> Int {
            guard let colon = authority.lastIndex(of: 58), authority[colon...].firstIndex(of: 93) == nil else {
                return authority.endIndex
            }
            let digits = authority[(colon + 1)...]
            let isOwn =
                digits.count == port.utf8CodeUnitCount
                && digits.enumerated().allSatisfy { $1 == port.utf8Start[$0] }
            return digits.isEmpty || isOwn ? colon : authority.endIndex
        }

        func host(in url: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
            UnsafeBufferPointer(rebasing: url[authority])
        }
    }

    /// Memory that is filled from its beginning; what has no room is left out, which ``RequestHead`` precludes.
    private struct Output {
        private let buffer: UnsafeMutableBufferPointer<UInt8>
        private(set) var count = 0

        init(_ buffer: UnsafeMutableBufferPointer<UInt8>) { self.buffer = buffer }

        mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
            guard let source = bytes.baseAddress, let base = buffer.baseAddress, count + bytes.count <= buffer.count else {
                return
            }
            memcpy(base + count, source, bytes.count)
            count += bytes.count
        }

        mutating func append(_ text: StaticString) {
            append(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
        }

        mutating func append(_ text: String) {
            var text = text
            text.withUTF8 { append($0) }
        }

        /// A line.
        mutating func append(_ name: StaticString, _ value: String) {
            append(name)
            append(value)
            append("\r\n")
        }
    }
#endif
