internal import Interception
internal import MidstreamCore

/// One arriving body for any number of readers, each at its own pace.
///
/// Up to a number of bytes everything is kept, so that readers may still join. What outgrows that is let go of as it is read: nobody joins any
/// more, and the readers go in step. The source is read at most a window ahead of whoever limits it, by a task of its own, which ends
/// when the last reader leaves.
final class SharedBody: Sendable {
    private struct State {
        /// What is kept, and how many readers still want each; the first has the number `first`.
        var chunks: [(bytes: [UInt8], wanted: Int)] = []
        var first = 0
        /// The offset behind the last chunk, that of the first one that is kept, and that of the reader who is furthest.
        var produced: Int64 = 0
        var dropped: Int64 = 0
        var furthest: Int64 = 0
        var isOutgrown = false
        var end: Result<Void, any Error>?
        var nextReader = 0
        var readers: [Int: Place] = [:]
        var pump: Task<Void, Never>?
        var pumpWaiter: CheckedContinuation<Void, Never>?

        var behind: Int { first + chunks.count }
    }

    private struct Place {
        var chunk: Int
        var offset: Int64
        var waiter: CheckedContinuation<[UInt8]?, any Error>?
    }

    /// How long it is, when that is known.
    let length: Int64?
    private let source: any IncomingBody
    private let keptBytes: Int64
    private let window: Int64
    private let onClosed: @Sendable () -> Void
    private let state = Locked(State())

    /// - Parameters:
    ///   - keptBytes: Up to how many bytes everything is kept.
    ///   - window: How far readers may be apart beyond that, and how far ahead the source is read.
    ///   - onClosed: Called once nobody can join any more.
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

    /// A reader of all of it; nil when nobody can join any more.
    func join() -> SharedBodyReader? {
        let number = state.withLock { state -> Int? in
            guard !state.isOutgrown, state.end == nil, state.first == 0 else { return nil }
            if state.nextReader > 0, state.readers.isEmpty { return nil }
            state.nextReader += 1
            state.readers[state.nextReader] = Place(chunk: 0, offset: 0)
            for place in state.chunks.indices { state.chunks[place].wanted += 1 }
            if state.pump == nil { state.pump = Task { await self.pump() } }
            return state.nextReader
        }
        return number.map { SharedBodyReader(self, $0) }
    }

    var trailers: HTTPHeaders? { state.withLock { $0.end != nil } ? source.trailers : nil }
    var metrics: TransportMetrics? { state.withLock { $0.end != nil } ? source.metrics : nil }

    private func pump() async {
        while true {
            await permission()
            if Task.isCancelled { break }
            do {
                guard let chunk = try await source.next() else {
                    finish(.success(()))
                    return
                }
                deliver(chunk)
            } catch {
                finish(.failure(error))
                return
            }
        }
        source.close()
        finish(.failure(CancellationError()))
    }

    /// Waits until somebody is near enough to what comes next.
    private func permission() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let mayGoOn = state.withLock { state in
                    if Task.isCancelled || Self.mayPump(state, window) { return true }
                    state.pumpWaiter = waiter
                    return false
                }
                if mayGoOn { waiter.resume() }
            }
        } onCancel: {
            state.withLock { state in
                defer { state.pumpWaiter = nil }
                return state.pumpWaiter
            }?.resume()
        }
    }

    private static func mayPump(_ state: State, _ window: Int64) -> Bool {
        state.produced - (state.isOutgrown ? state.dropped : state.furthest) < window
    }

    private func deliver(_ chunk: [UInt8]) {
        guard !chunk.isEmpty else { return }
        var isClosedNow = false
        let waiters = state.withLock { state -> [CheckedContinuation<[UInt8]?, any Error>] in
            var waiters: [CheckedContinuation<[UInt8]?, any Error>] = []
            let number = state.behind
            state.chunks.append((chunk, state.readers.count))
            state.produced += Int64(chunk.count)
            for (reader, place) in state.readers where place.waiter != nil && place.chunk == number {
                if let waiter = place.waiter { waiters.append(waiter) }
                state.readers[reader]?.waiter = nil
                Self.advance(reader, &state)
            }
            if !state.isOutgrown, state.produced > keptBytes {
                state.isOutgrown = true
                isClosedNow = true
            }
            Self.dropRead(&state)
            return waiters
        }
        for waiter in waiters { waiter.resume(returning: chunk) }
        if isClosedNow { onClosed() }
    }

    /// Notes that a reader has taken its next chunk.
    private static func advance(_ reader: Int, _ state: inout State) {
        guard let place = state.readers[reader] else { return }
        let index = place.chunk - state.first
        state.chunks[index].wanted -= 1
        let offset = place.offset + Int64(state.chunks[index].bytes.count)
        state.readers[reader]?.chunk += 1
        state.readers[reader]?.offset = offset
        state.furthest = max(state.furthest, offset)
    }

    private static func dropRead(_ state: inout State) {
        guard state.isOutgrown else { return }
        var count = 0
        while count < state.chunks.count, state.chunks[count].wanted == 0 {
            state.dropped += Int64(state.chunks[count].bytes.count)
            count += 1
        }
        state.chunks.removeFirst(count)
        state.first += count
    }

    private func finish(_ end: Result<Void, any Error>) {
        let (waiters, wasOpen) = state.withLock { state -> ([CheckedContinuation<[UInt8]?, any Error>], Bool) in
            guard state.end == nil else { return ([], false) }
            state.end = end
            var waiters: [CheckedContinuation<[UInt8]?, any Error>] = []
            for reader in state.readers.keys {
                if let waiter = state.readers[reader]?.waiter { waiters.append(waiter) }
                state.readers[reader]?.waiter = nil
            }
            return (waiters, !state.isOutgrown)
        }
        for waiter in waiters { waiter.resume(with: end.map { nil }) }
        if wasOpen { onClosed() }
    }

    /// What one reader gets next.
    fileprivate func next(_ reader: Int) async throws -> [UInt8]? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                let (result, pump) = state.withLock {
                    state -> (Result<[UInt8]?, any Error>?, CheckedContinuation<Void, Never>?) in
                    if Task.isCancelled { return (.failure(CancellationError()), nil) }
                    guard let place = state.readers[reader] else {
                        return (.failure(HTTPError(.connectionLost, "The body was closed.", phase: .answered)), nil)
                    }
                    if place.chunk < state.behind {
                        let chunk = state.chunks[place.chunk - state.first].bytes
                        Self.advance(reader, &state)
                        Self.dropRead(&state)
                        return (.success(chunk), takePumpWaiter(&state))
                    }
                    if let end = state.end { return (end.map { nil }, nil) }
                    state.readers[reader]?.waiter = waiter
                    return (nil, takePumpWaiter(&state))
                }
                pump?.resume()
                if let result { waiter.resume(with: result) }
            }
        } onCancel: {
            leave(reader, CancellationError())
        }
    }

    private func takePumpWaiter(_ state: inout State) -> CheckedContinuation<Void, Never>? {
        guard Self.mayPump(state, window) else { return nil }
        defer { state.pumpWaiter = nil }
        return state.pumpWaiter
    }

    /// A reader wants nothing more.
    fileprivate func leave(_ reader: Int, _ error: any Error) {
        let (waiter, pump, abandoned) = state.withLock {
            state -> (CheckedContinuation<[UInt8]?, any Error>?, CheckedContinuation<Void, Never>?, Task<Void, Never>?) in
            guard let place = state.readers.removeValue(forKey: reader) else { return (nil, nil, nil) }
            for index in max(0, place.chunk - state.first)..<state.chunks.count { state.chunks[index].wanted -= 1 }
            Self.dropRead(&state)
            let isLast = state.readers.isEmpty && state.end == nil
            return (place.waiter, takePumpWaiter(&state), isLast ? state.pump : nil)
        }
        if let abandoned {
            abandoned.cancel()
            source.close()
        }
        pump?.resume()
        waiter?.resume(throwing: error)
    }
}

/// One reader of a shared body; leaves when it is released.
final class SharedBodyReader: IncomingBody {
    private let body: SharedBody
    private let number: Int
    private let hasBegun = Locked(false)

    fileprivate init(_ body: SharedBody, _ number: Int) {
        self.body = body
        self.number = number
    }

    deinit { body.leave(number, CancellationError()) }

    func next() async throws -> [UInt8]? {
        hasBegun.withLock { $0 = true }
        return try await body.next(number)
    }

    func close() { body.leave(number, HTTPError(.connectionLost, "The body was closed.", phase: .answered)) }
    var isSpent: Bool { hasBegun.withLock { $0 } }
    var trailers: HTTPHeaders? { body.trailers }
    var metrics: TransportMetrics? { body.metrics }
}
