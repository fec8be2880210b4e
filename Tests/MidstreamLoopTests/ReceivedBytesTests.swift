#if os(Linux)
    import Testing

    @testable import MidstreamLoop

    @Suite struct ReceivedBytesTests {
        @Test(arguments: [0, 1, 1 << 20, 4 << 20, (4 << 20) + 1, 9_000_001])
        func `Bytes come out as they went in`(count: Int) {
            // No part has the next one's bytes. To make each by itself would take a sanitizer minutes.
            var bytes = (0..<100_003).map { UInt8(truncatingIfNeeded: $0 / 251) }
            while bytes.count < count { bytes += bytes }
            bytes.removeLast(bytes.count - count)
            var received = ReceivedBytes()
            received.reserveCapacity(10)
            var rest = bytes[...]
            while !rest.isEmpty {
                rest.prefix(70_001).withUnsafeBytes { received.append($0) }
                rest = rest.dropFirst(70_001)
            }
            #expect(received.count == count && received.isWhole == (count <= 1 << 20), "No larger one is copied while it grows.")
            #expect(received.joined() == bytes)
        }
    }
#endif
