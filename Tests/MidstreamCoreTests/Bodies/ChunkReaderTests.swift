import TestSupport
import Testing

@testable import MidstreamCore

@Suite("A reader of chunks", .leavesNothing, .timeLimit(.minutes(10)))
struct ChunkReaderTests {
    @Test("an error isn't followed by an end")
    func error() async {
        let chunks = ChunkReader(.incoming(next: { throw Failure() }, close: {}))
        for _ in 0..<2 {
            await #expect(throws: Failure.self) { try await chunks.next() }
        }
    }

    @Test("whoever reads while another does gets an error, and the other one goes on")
    func twoReaders() async throws {
        let (isReading, mayGoOn) = (Gate(), Gate())
        let chunks = ChunkReader(
            .incoming(
                next: {
                    isReading.open()
                    await mayGoOn.wait()
                    return [1]
                }, close: {}))
        async let first = chunks.next()
        await isReading.wait()
        #expect(await httpError { try await chunks.next() }?.code == .bodyNotReplayable)
        mayGoOn.open()
        #expect(try await first == [1])
    }
}
