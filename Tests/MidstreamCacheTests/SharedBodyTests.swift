import Interception
import MidstreamCacheStore
import MidstreamCore
import TestSupport
import Testing

@testable import MidstreamCache

@Suite("A body that several read", .leavesNothing, .timeLimit(.minutes(10)))
struct SharedBodyTests {
    @Test("readers have each their own pace until the body has outgrown what is kept, and then go in step")
    func sharedBody() async throws {
        let pieces = (0..<400).map { [UInt8](repeating: UInt8($0 % 251), count: 1000) }
        let whole = pieces.reduce(into: [UInt8]()) { $0 += $1 }
        let isClosed = Locked(false)
        let body = SharedBody(ArrivingBody(pieces), length: nil, keptBytes: 100_000, window: 50_000) {
            isClosed.withLock { $0 = true }
        }
        let readers = try (0..<20).map { _ in try #require(body.join()) }
        try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for reader in readers { group.addTask { try await reader.collect() } }
            for try await bytes in group { #expect(bytes == whole) }
        }
        #expect(isClosed.withLock { $0 } && body.join() == nil)
    }

    @Test("a reader is told that other bytes were made of those that came")
    func transformed() async throws {
        let source = try #require(HTTPBody.incoming(ArrivingBody([[1], [2]])).mapChunks { $0 + $0 }.incoming)
        let body = SharedBody(source, length: nil, keptBytes: 10) {}
        let reader = try #require(body.join())
        #expect(!reader.isTransformed)
        _ = try await reader.collect()
        #expect(reader.isTransformed)
    }

    @Test("a reader that leaves doesn't hold up the others, and the last one closes the source")
    func leavingReaders() async throws {
        let source = ArrivingBody((0..<1000).map { _ in [UInt8](repeating: 1, count: 1000) })
        let body = SharedBody(source, length: nil, keptBytes: 10_000, window: 10_000) {}
        let slow = try #require(body.join()?.incoming)
        let quick = try #require(body.join()?.incoming)
        for _ in 0..<10 { _ = try await quick.next() }
        slow.close()
        for _ in 0..<500 { #expect(try await quick.next()?.count == 1000) }
        await #expect(throws: HTTPError.self) { try await slow.next() }
        quick.close()
        #expect(source.closings > 0)
    }

    @Test("a body that all have read is let go of", arguments: [1, 20, 1000], [1, 3, 400])
    func readBodyIsReleased(readers count: Int, pieces: Int) async throws {
        weak var body: SharedBody?
        do {
            let shared = SharedBody(ArrivingBody((0..<pieces).map { _ in [1, 2, 3] }), length: nil, keptBytes: 100_000) {}
            body = shared
            let readers = try (0..<count).map { _ in try #require(shared.join()) }
            try await withThrowingTaskGroup(of: Int.self) { group in
                for reader in readers { group.addTask { try await reader.collect().count } }
                for try await bytes in group { #expect(bytes == 3 * pieces) }
            }
        }
        await eventually { body == nil }
    }

    @Test("each reader reads it once, and then it isn't empty")
    func again() async throws {
        let body = SharedBody(ArrivingBody([[1], [2]]), length: nil, keptBytes: 100) {}
        let arriving = try #require(body.join())
        #expect(try await arriving.collect() == [1, 2])
        #expect(await httpError { try await arriving.collect() }?.code == .bodyNotReplayable)
    }

    @Test("of two who read one share at once the second gets an error, and the first one what comes")
    func twoReadersOfAShare() async throws {
        let source = SlowBody([[1]])
        let shared = SharedBody(source, length: nil, keptBytes: 100) {}
        let body = try #require(shared.join())
        let first = Task { try await body.collect() }
        await source.gate.reached()
        #expect(await httpError { for try await _ in body {} }?.code == .bodyNotReplayable)
        source.gate.open()
        #expect(try await first.value == [1])
    }

    @Test("stored bytes and those that arrive behind them are read once, and then aren't none")
    func joinedAgain() async throws {
        let joined = HTTPBody.joined(.bytes([1]), .bytes([2]), length: 2, arriving: 1)
        #expect(try await joined.collect() == [1, 2])
        #expect(await httpError { try await joined.collect() }?.code == .bodyNotReplayable)
    }

    @Test("the source is read when somebody wants more, and not before")
    func nothingAhead() async throws {
        let source = SlowBody([[1], [2]], isOpen: true)
        let body = SharedBody(source, length: nil, keptBytes: 100) {}
        let (first, second) = (try #require(body.join()?.incoming), try #require(body.join()?.incoming))
        #expect(source.readings.isEmpty)
        #expect(try await first.next() == [1] && source.readings.count == 1)
        #expect(try await second.next() == [1] && source.readings.count == 1)
        #expect(try await second.next() == [2] && source.readings.count == 2)
        #expect(try await first.next() == [2])
        for reader in [first, second] { #expect(try await reader.next() == nil) }
    }

    @Test("what a reader has asked for isn't lost to the others when that one is cancelled")
    func cancelledReader() async throws {
        let source = SlowBody([[1]])
        let body = SharedBody(source, length: nil, keptBytes: 100) {}
        let (first, second) = (try #require(body.join()?.incoming), try #require(body.join()?.incoming))
        let asking = Task { try await first.next() }
        await source.gate.reached()
        asking.cancel()
        await #expect(throws: CancellationError.self) { try await asking.value }
        let other = Task { try await second.next() }
        source.gate.open()
        #expect(try await other.value == [1])
        #expect(source.readings.count == 1 && source.closings == 0)
    }

    @Test("what the source does for it isn't bound by the deadline of the reader that asks")
    func deadlineOfAReader() async throws {
        let source = SlowBody([[1]], isOpen: true)
        let body = SharedBody(source, length: nil, keptBytes: 100) {}
        let reader = try #require(body.join()?.incoming)
        var position = ChainPosition()
        position.deadline = 1
        let bytes = try await ChainPosition.local.withValue(position) { try await reader.next() }
        #expect(bytes == [1] && source.deadlines == [Int64.max])
    }

    @Test("the last reader that is cancelled ends the reading, and nobody can join any more")
    func lastReader() async throws {
        let isClosed = Locked(false)
        let source = SlowBody([[1]])
        let body = SharedBody(source, length: nil, keptBytes: 100) { isClosed.withLock { $0 = true } }
        let reader = try #require(body.join()?.incoming)
        let asking = Task { try await reader.next() }
        await source.gate.reached()
        asking.cancel()
        await #expect(throws: CancellationError.self) { try await asking.value }
        source.gate.open()
        await eventually { source.wasCancelled }
        #expect(source.closings == 1 && isClosed.withLock { $0 } && body.join() == nil)
    }

    @Test("a reader with whom nobody shares, nor can, reads the source in its own task")
    func alone() async throws {
        let source = SlowBody([[1], [2, 3], [4], [5]], isOpen: true)
        let body = SharedBody(source, length: nil, keptBytes: 2) {}
        let (first, second) = (try #require(body.join()?.incoming), try #require(body.join()?.incoming))
        let own = withUnsafeCurrentTask { $0?.hashValue }
        for expected in [[1], [2, 3]] as [[UInt8]] { #expect(try await first.next() == expected) }
        #expect(try await second.next() == [1])
        second.close()
        for expected in [[4], [5]] as [[UInt8]] { #expect(try await first.next() == expected) }
        #expect(try await first.next() == nil)
        #expect(source.readings.map { $0 == own } == [false, false, true, true, true])
        #expect(body.trailers != nil)
    }

    @Test("one who is cancelled while it reads alone gets that as its error, and closes the source")
    func cancelledAlone() async throws {
        let source = SlowBody([[1, 2], [3]], isOpen: true)
        let body = SharedBody(source, length: nil, keptBytes: 1) {}
        let reader = try #require(body.join()?.incoming)
        #expect(try await reader.next() == [1, 2])
        source.shutGate()
        let asking = Task { try await reader.next() }
        await source.gate.reached()
        asking.cancel()
        await eventually { source.closings == 1 }
        source.gate.open()
        await #expect(throws: CancellationError.self) { try await asking.value }
    }
}

/// Gives its chunks when a gate is open, unless it is closed or the task is cancelled meanwhile.
private final class SlowBody: IncomingBody {
    private struct State {
        var chunks: [[UInt8]]
        var gate: Gate
        var isEnded = false
        var closings = 0
        var wasCancelled = false
        var readings: [Int?] = []
        var deadlines: [Int64?] = []
    }

    private let state: Locked<State>

    init(_ chunks: [[UInt8]], isOpen: Bool = false) {
        let gate = Gate()
        if isOpen { gate.open() }
        state = Locked(State(chunks: chunks, gate: gate))
    }

    var gate: Gate { state.withLock { $0.gate } }
    var closings: Int { state.withLock { $0.closings } }
    var wasCancelled: Bool { state.withLock { $0.wasCancelled } }
    /// The tasks that have read.
    var readings: [Int?] { state.withLock { $0.readings } }
    /// Those within which they have.
    var deadlines: [Int64?] { state.withLock { $0.deadlines } }

    /// Has the next ones wait.
    func shutGate() { state.withLock { $0.gate = Gate() } }

    func next() async throws -> [UInt8]? {
        let task = withUnsafeCurrentTask { $0?.hashValue }
        state.withLock { state in
            state.readings.append(task)
            state.deadlines.append(ChainPosition.current?.deadline)
        }
        await gate.wait()
        let isCancelled = Task.isCancelled
        return try state.withLock { state in
            if isCancelled { state.wasCancelled = true }
            if isCancelled || state.closings > 0 { throw HTTPError(.connectionLost) }
            guard !state.chunks.isEmpty else {
                state.isEnded = true
                return nil
            }
            return state.chunks.removeFirst()
        }
    }

    func close() { state.withLock { $0.closings += 1 } }
    var isSpent: Bool { !readings.isEmpty }
    var trailers: HTTPHeaders? { state.withLock { $0.isEnded } ? [:] : nil }
    var metrics: TransportMetrics? { nil }
}
