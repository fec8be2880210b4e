#if os(Linux)
    internal import CCurl
    import Glibc

    /// The header fields of a request in the form that curl takes them: a linked list of C strings.
    ///
    /// Nodes and texts are in two buffers that serve all requests, in place of two allocations for each field.
    struct FieldList {
        private var text: UnsafeMutableBufferPointer<CChar> = .init(start: nil, count: 0)
        private var nodes: UnsafeMutableBufferPointer<curl_slist> = .init(start: nil, count: 0)
        private var textEnd = 0
        private var nodeEnd = 0

        func deallocate() {
            text.deallocate()
            nodes.deallocate()
        }

        /// Makes room for `fields`, `name:value\n` each, and `extras` more lines of `extraBytes` in all, and forgets the old ones.
        mutating func reset(for fields: [UInt8], extras: Int, extraBytes: Int) {
            var lines = extras
            for byte in fields where byte == UInt8(ascii: "\n") { lines += 1 }
            // A space after each colon and a NUL in place of each line feed.
            let bytes = fields.count + lines + extraBytes + extras
            if nodes.count < lines {
                nodes.deallocate()
                nodes = .allocate(capacity: max(lines, 16))
            }
            if text.count < bytes {
                text.deallocate()
                text = .allocate(capacity: max(bytes, 1024))
            }
            textEnd = 0
            nodeEnd = 0
        }

        /// The first node; nil when there is none.
        var first: UnsafeMutablePointer<curl_slist>? { nodeEnd == 0 ? nil : nodes.baseAddress }

        /// Adds a whole line, such as `Expect:`, which removes a field that curl would send.
        mutating func append(_ line: StaticString) {
            beginLine()
            put(UnsafeBufferPointer(start: line.utf8Start, count: line.utf8CodeUnitCount))
            endLine()
        }

        /// Adds a field with a value that isn't empty.
        mutating func append(_ name: StaticString, value: String) {
            beginLine()
            put(UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
            var value = value
            value.withUTF8 { put($0) }
            endLine()
        }

        /// Adds the field at `line` of a head in the form of ``HTTPHeaders/bytes``.
        mutating func append(_ line: UnsafeBufferPointer<UInt8>, colon: Int) {
            beginLine()
            put(UnsafeBufferPointer(rebasing: line[..<colon]))
            if colon == line.count - 1 {
                // Curl leaves "Name:" out and sends "Name;" with an empty value.
                put(UInt8(ascii: ";"))
            } else {
                put(UInt8(ascii: ":"))
                put(UInt8(ascii: " "))
                put(UnsafeBufferPointer(rebasing: line[(colon + 1)...]))
            }
            endLine()
        }

        private mutating func beginLine() {
            guard let node = nodes.baseAddress?.advanced(by: nodeEnd), let start = text.baseAddress?.advanced(by: textEnd)
            else { return }
            node.initialize(to: curl_slist(data: start, next: nil))
            if nodeEnd > 0 { (node - 1).pointee.next = node }
            nodeEnd += 1
        }

        private mutating func put(_ byte: UInt8) {
            text[textEnd] = CChar(bitPattern: byte)
            textEnd += 1
        }

        private mutating func put(_ bytes: UnsafeBufferPointer<UInt8>) {
            guard let from = bytes.baseAddress, let to = text.baseAddress else { return }
            precondition(textEnd + bytes.count < text.count)
            memcpy(to + textEnd, from, bytes.count)
            textEnd += bytes.count
        }

        private mutating func endLine() { put(0) }
    }
#endif
