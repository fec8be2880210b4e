import Testing

@testable import MidstreamURLSession

@Suite struct ResponseBufferTests {
    @Test func chunksComeOutInOrder() throws {
        var buffer = ResponseBuffer(fileLimit: 0)
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
        var buffer = ResponseBuffer(fileLimit: 0)
        buffer.gather([1, 2])
        buffer.gather([3])
        #expect(buffer.popAll() == [1, 2, 3])
        #expect(buffer.isEmpty)
        #expect(buffer.popAll() == [])
    }

    #if canImport(FoundationNetworking)
        @Test func whatDoesNotFitIntoMemoryGoesToAFileAndBack() throws {
            // Less than what passes through, so the file is written round and round.
            var buffer = ResponseBuffer(fileLimit: 83_000)
            for _ in 0..<3 {
                let sent = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
                var (read, position): ([UInt8], Int) = ([], 0)
                while position < sent.count {
                    let end = min(position + 997, sent.count)
                    let piece = Array(sent[position..<end])
                    while try !buffer.append(piece, memoryLimit: 2_000) {
                        read += try #require(try buffer.popFirst(), "Only what waits takes room.")
                    }
                    #expect(buffer.byteCount <= 2_000)
                    position = end
                    if position % 5 == 0, let chunk = try buffer.popFirst() { read += chunk }
                }
                while let chunk = try buffer.popFirst() { read += chunk }
                #expect(read == sent)
                #expect(buffer.isEmpty)
            }
        }

        @Test func noMoreThanTheLimitIsKept() throws {
            var buffer = ResponseBuffer(fileLimit: 10)
            #expect(try buffer.append([1, 2], memoryLimit: 2))
            #expect(try buffer.append([3, 4, 5, 6, 7, 8], memoryLimit: 2))
            #expect(try !buffer.append([9, 10, 11, 12, 13], memoryLimit: 2))
            #expect(try buffer.append([9, 10, 11, 12], memoryLimit: 2))
            #expect(try !buffer.append([13], memoryLimit: 2))
            var read: [UInt8] = []
            while let chunk = try buffer.popFirst() { read += chunk }
            #expect(read == Array(1...12))
            #expect(try buffer.append(Array(1...10), memoryLimit: 2))
            #expect(try buffer.popFirst() == Array(1...10))
        }
    #endif
}
