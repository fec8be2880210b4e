internal import Interception
internal import MidstreamCore

/// One arriving body for any number of readers, each at its own pace.
///
/// Up to a number of bytes everything is kept, so that readers may still join. What outgrows that is let go of as it is read: nobody joins any
/// more, and the readers go no further apart than a window.
///
/// The source is read when a reader wants what hasn't come yet: one chunk at a time, by a task of its own, since the cancellation of that
/// reader mustn't take the chunk from the others. The task begins in the reader's thread, and ends there where the chunk has arrived. A
/// reader with whom nobody shares any more, nor can, reads the source itself.
final class SharedBody: Sendable {
    private typealias Waiter = Suspension<Result<[UInt8]?, any Error>>

    private struct State {
        /// What is kept, and how many readers still want each; the first has the number `first`.
        var chunks: [(bytes: [UInt8], wanted: Int)] = []
        var first = 0
        /// The offset behind the last chunk, and that of the first one that is kept.
        var produced: Int64 = 0
        var dropped: Int64 = 0
        var isOutgrown = false
        var end: Result<Void, any Error>?
        var nextReader = 0
        var readers: [Int: Place] = [:]
        /// How many readers wait; all of them for the next chunk.
        var waiting = 0
        /// Who reads the source.
        var reading: Reading?
        var nextReading = 0

        var behind: Int { first + chunks.count }
    }

    private struct Place {
        var chunk = 0
        var waiter: Waiter?
    }

    /// A task that reads the next chunk.
    private struct Reading {
        let number: Int
        /// Nil until it is known.
        var task: Task<Void, Never>?
    }

    /// What a reader that wants more has to do.
    private enum Turn {
        case takes(Result<[UInt8]?, any Error>)
        case readsAlone
        case waits
    }

    /// How long it is, when that is known.
    private let length: Int64?
    private let source: any IncomingBody
    private let keptBytes: Int64
    private let window: Int64
    private let onClosed: @Sendable () -> Void
    private let state = Locked(State())

    /// - Parameter onClosed: Called once nobody can join any more.
    init(
        _ source: any IncomingBody, length: Int64?, keptBytes: Int64, window: Int64 = 1 << 20,
        onClosed: @escaping @Sendable () -> Void
    ) {
        self.source = source
        self.length = length
        self.keptBytes = keptBytes
        self.window = window
        self.onClosed = onClosed
    }

    /// All of it for one reader, who leaves by closing or releasing it; nil when nobody can join any more.
    func join() -> HTTPBody? {
        let number = state.withLock { state -> Int? in
            guard !state.isOutgrown, state.end == nil, state.first == 0 else { return nil }
            if state.nextReader > 0, state.readers.isEmpty { return nil }
            state.nextReader += 1
            state.readers[state.nextReader] = Place()
            for place in state.chunks.indices { state.chunks[place].wanted += 1 }
            return state.nextReader
        }
        return number.map { number in
            HTTPBody.incoming(length: length) {
                self.source.isTransformed
            } next: {
                try await self.next(number)
            } trailers: {
                self.trailers
            } metrics: {
                self.metrics
            } close: {
                self.leave(number, HTTPError.bodyClosed())
            }
        }
    }

    var trailers: HTTPHeaders? { state.withLock { $0.end != nil } ? source.trailers : nil }
    var metrics: TransportMetrics? { state.withLock { $0.end != nil } ? source.metrics : nil }

    // MARK: The readers' side

    /// The next chunk for one reader.
    private func next(_ reader: Int) async throws -> [UInt8]? {
        do {
            switch take(reader, waiter: nil) {
            case .takes(let result): return try result.get()
            case .readsAlone:
                return try await withTaskCancellationHandler {
                    try await readAlone()
                } onCancel: {
                    leave(reader, CancellationError())
                }
            case .waits: return try await wait(reader)
            }
        } catch let error as CancellationError {
            leave(reader, error)
            throw error
        }
    }

    private func wait(_ reader: Int) async throws -> [UInt8]? {
        let waiter = Waiter()
        if case .takes(let result) = take(reader, waiter: waiter) { return try result.get() }
        guard case .value(let result) = await waiter.wait() else { throw CancellationError() }
        return try result.get()
    }

    /// - Parameter waiter: Whom to wake when there is nothing yet; nil: nobody waits by this.
    private func take(_ reader: Int, waiter: Waiter?) -> Turn {
        let (turn, reading) = state.withLock { state -> (Turn, Int?) in
            let turn = self.turn(of: reader, waiter, &state)
            return (turn, beginReading(&state))
        }
        if let reading { read(reading) }
        return turn
    }

    private func turn(of reader: Int, _ waiter: Waiter?, _ state: inout State) -> Turn {
        if Task.isCancelled { return .takes(.failure(CancellationError())) }
        guard let place = state.readers[reader] else {
            return .takes(.failure(HTTPError.bodyClosed()))
        }
        if place.chunk < state.behind {
            let chunk = state.chunks[place.chunk - state.first].bytes
            Self.advance(reader, &state)
            Self.dropRead(&state)
            return .takes(.success(chunk))
        }
        if let end = state.end { return .takes(end.map { nil }) }
        guard let waiter else {
            return state.isOutgrown && state.readers.count == 1 && state.reading == nil ? .readsAlone : .waits
        }
        state.readers[reader]?.waiter = waiter
        state.waiting += 1
        return .waits
    }

    /// Reads the source in the task of the only reader that there is and will be.
    private func readAlone() async throws -> [UInt8]? {
        do {
            let chunk = try await nextChunk()
            if chunk == nil { finish(.success(())) }
            return chunk
        } catch {
            finish(.failure(error))
            throw Task.isCancelled ? CancellationError() : error
        }
    }

    /// A reader wants nothing more.
    private func leave(_ reader: Int, _ error: any Error) {
        let (waiter, reading, abandoned) = state.withLock { state -> (Waiter?, Int?, Reading??) in
            guard let place = state.readers.removeValue(forKey: reader) else { return (nil, nil, nil) }
            if place.waiter != nil { state.waiting -= 1 }
            for index in max(0, place.chunk - state.first)..<state.chunks.count { state.chunks[index].wanted -= 1 }
            Self.dropRead(&state)
            guard state.readers.isEmpty, state.end == nil else { return (place.waiter, beginReading(&state), nil) }
            return (place.waiter, nil, .some(state.reading))
        }
        if let abandoned {
            abandoned?.task?.cancel()
            source.close()
            finish(.failure(CancellationError()))
        }
        if let reading { read(reading, atOnce: false) }
        waiter?.resume(.failure(error))
    }

    // MARK: Reading the source

    /// The number of the reading that is to be begun, where somebody waits and is near enough to the slowest reader; otherwise nil.
    private func beginReading(_ state: inout State) -> Int? {
        guard state.waiting > 0, state.reading == nil, state.end == nil,
            !state.isOutgrown || state.produced - state.dropped < window
        else { return nil }
        state.nextReading += 1
        state.reading = Reading(number: state.nextReading)
        return state.nextReading
    }

    /// - Parameter atOnce: Whether the caller may be kept as long as it takes to find out that there is nothing yet.
    private func read(_ number: Int, atOnce: Bool = true) {
        let read: @Sendable () async -> Void = { [self] in
            do {
                repeat {
                    guard let chunk = try await nextChunk() else { return finish(.success(())) }
                    deliver(chunk)
                    // Behind the last byte there is nothing left to wait for but the end.
                } while goesOn(number)
            } catch {
                finish(.failure(error))
            }
        }
        // What comes is for all: the deadline of the reader that asks isn't the others', where the source sends something itself.
        let task = ChainPosition.local.withValue(ChainPosition.local.get()?.withoutDeadline) {
            let executor = CallersExecutor()
            return atOnce ? executor.startAtOnce(read) : executor.start(read)
        }
        let isAbandoned = state.withLock { state in
            if state.reading?.number == number { state.reading?.task = task }
            return state.readers.isEmpty && state.end != nil
        }
        if isAbandoned { task.cancel() }
    }

    /// Whether all bytes have come, and a reading goes on to the end.
    private func goesOn(_ number: Int) -> Bool {
        state.withLock { state in
            guard let length, state.produced == length, state.reading == nil, state.end == nil, !state.readers.isEmpty else {
                return false
            }
            state.reading = Reading(number: number)
            return true
        }
    }

    private func nextChunk() async throws -> [UInt8]? {
        while true {
            let chunk = try await source.next()
            guard chunk?.isEmpty == true else { return chunk }
        }
    }

    private func deliver(_ chunk: [UInt8]) {
        var isClosedNow = false
        let waiters = state.withLock { state -> [Waiter] in
            state.reading = nil
            guard state.end == nil else { return [] }
            state.chunks.append((chunk, state.readers.count))
            state.produced += Int64(chunk.count)
            let waiters = Self.takeWaiters(&state) { reader, state in Self.advance(reader, &state) }
            if !state.isOutgrown, state.produced > keptBytes {
                state.isOutgrown = true
                isClosedNow = true
            }
            Self.dropRead(&state)
            return waiters
        }
        for waiter in waiters { waiter.resume(.success(chunk)) }
        if isClosedNow { onClosed() }
    }

    private func finish(_ end: Result<Void, any Error>) {
        let (waiters, wasOpen) = state.withLock { state -> ([Waiter], Bool) in
            state.reading = nil
            guard state.end == nil else { return ([], false) }
            state.end = end
            return (Self.takeWaiters(&state) { _, _ in }, !state.isOutgrown)
        }
        for waiter in waiters { waiter.resume(end.map { nil }) }
        if wasOpen { onClosed() }
    }

    private static func takeWaiters(_ state: inout State, _ change: (Int, inout State) -> Void) -> [Waiter] {
        guard state.waiting > 0 else { return [] }
        var waiters: [Waiter] = []
        waiters.reserveCapacity(state.waiting)
        for (reader, place) in state.readers {
            guard let waiter = place.waiter else { continue }
            waiters.append(waiter)
            state.readers[reader]?.waiter = nil
            change(reader, &state)
        }
        state.waiting = 0
        return waiters
    }

    /// Notes that a reader has taken its next chunk.
    private static func advance(_ reader: Int, _ state: inout State) {
        guard let place = state.readers[reader] else { return }
        state.chunks[place.chunk - state.first].wanted -= 1
        state.readers[reader]?.chunk += 1
    }

    private static func dropRead(_ state: inout State) {
        guard state.isOutgrown else { return }
        var count = 0
        while count < state.chunks.count, state.chunks[count].wanted == 0 {
            state.dropped += Int64(state.chunks[count].bytes.count)
            count += 1
        }
        guard count > 0 else { return }
        state.chunks.removeFirst(count)
        state.first += count
    }
}
