import Testing

@testable import MidstreamURLSession

@Suite struct ResponseBufferTests {
    @Test func chunksComeOutInOrder() throws {
        var buffer = ResponseBuffer()
        var (read, written): (UInt8, UInt8) = (0, 0)
        for round in 0..<200 {
            for _ in 0..<(round % 3) {
                buffer.append([written])
                written &+= 1
            }
            if let chunk = try buffer.popFirst() {
                #expect(chunk == [read])
                read &+= 1
            }
        }
        while try buffer.popFirst() != nil { read &+= 1 }
        #expect(read == written)
        #expect(buffer.isEmpty)
    }

    @Test func gatheredChunksAreOne() {
        var buffer = ResponseBuffer()
        buffer.gather([1, 2])
        buffer.gather([3])
        #expect(buffer.popAll() == [1, 2, 3])
        #expect(buffer.isEmpty)
        #expect(buffer.popAll() == [])
    }

    #if canImport(FoundationNetworking)
        @Test func whatDoesNotFitIntoMemoryGoesToAFileAndBack() throws {
            var buffer = ResponseBuffer()
            for _ in 0..<3 {
                let sent = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
                var (read, position): ([UInt8], Int) = ([], 0)
                while position < sent.count {
                    let end = min(position + 997, sent.count)
                    try buffer.append(Array(sent[position..<end]), memoryLimit: 2_000)
                    #expect(buffer.byteCount <= 2_000)
                    position = end
                    if position % 5 == 0, let chunk = try buffer.popFirst() { read += chunk }
                }
                while let chunk = try buffer.popFirst() { read += chunk }
                #expect(read == sent)
                #expect(buffer.isEmpty)
            }
        }
    #endif
}
