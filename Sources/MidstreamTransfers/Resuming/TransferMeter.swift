internal import Interception
internal import MidstreamCore
public import MidstreamTasks

/// Tells how far a transfer has come, as a sequence that ends with it.
///
/// ```swift
/// let meter = TransferMeter()
/// Task { for await update in meter { show(update.fraction, update.timeLeft) } }
/// try await client.download(request, to: file, options: DownloadOptions(meter: meter))
/// ```
///
/// For one transfer and one reader, who gets the newest update when there have been several. A transfer doesn't wait for its reader.
public final class TransferMeter: AsyncSequence, Sendable {
    fileprivate struct State {
        var stopwatch: Stopwatch?
        var direction = TransferProgress.Direction.download
        var bytes: Int64 = 0
        var wireBytes: Int64? = 0
        var total: Int64?
        var resumedFrom: Int64 = 0
        var restarts = 0
        /// When the last update was sent.
        var toldAt: Duration?
        /// How many bytes came in each quarter of a second since the first, of the last ones.
        var quarters: [Int64] = []
        var firstQuarter: Int64 = 0
        var isOver = false
    }

    private let interval: Duration
    private let state = Locked(State())
    private let updates: AsyncStream<TransferProgress>
    private let continuation: AsyncStream<TransferProgress>.Continuation

    /// Makes a meter.
    ///
    /// - Parameter perSecond: How many updates a second there are at most; 10 by default. The last one always comes.
    public init(perSecond: Double = 10) {
        interval = .seconds(perSecond > 0 ? Swift.min(1 / perSecond, 1e6) : 1e6)
        (updates, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Reads the updates.
    public func makeAsyncIterator() -> AsyncStream<TransferProgress>.Iterator { updates.makeAsyncIterator() }

    /// Something begins, or begins again, with so many bytes that are there.
    func begin(
        _ direction: TransferProgress.Direction, at offset: Int64, of total: Int64?, isRestart: Bool,
        on clock: any Clock<Duration>
    ) {
        tell { state in
            if state.stopwatch == nil { state.stopwatch = Stopwatch(on: clock) }
            state.direction = direction
            (state.bytes, state.resumedFrom, state.total) = (offset, offset, total)
            if isRestart { state.restarts += 1 }
            state.toldAt = nil
        }
    }

    /// The total has become known.
    func expect(_ total: Int64?) { tell { $0.total = total } }

    /// So many bytes are there now.
    ///
    /// - Parameter wire: How many have gone over the wire for them; nil when nobody knows.
    func advance(to bytes: Int64, wire: Int64?) {
        tell { state in
            state.count(Swift.max(0, bytes - state.bytes))
            state.bytes = bytes
            state.wireBytes = state.wireBytes.flatMap { counted in wire.map { counted + $0 } }
        }
    }

    /// So many have gone over the wire in all.
    func settle(wireBytes: Int64?) { tell { $0.wireBytes = wireBytes } }

    /// Nothing more will come.
    func finish() {
        tell {
            $0.toldAt = nil
            $0.isOver = true
        }
        continuation.finish()
    }

    private func tell(_ change: (inout State) -> Void) {
        state.withLock { state in
            guard !state.isOver else { return }
            change(&state)
            guard let now = state.stopwatch?.elapsed, state.toldAt.map({ now - $0 >= interval }) ?? true else { return }
            state.toldAt = now
            // Under the lock, so that the newest comes last.
            continuation.yield(
                TransferProgress(
                    state.direction, bytes: state.bytes, total: state.total, wireBytes: state.wireBytes,
                    resumedFrom: state.resumedFrom,
                    restarts: state.restarts, rate: state.rate(at: now)))
        }
    }
}

extension TransferMeter.State {
    private static func quarter(_ time: Duration) -> Int64 { Int64(time / .milliseconds(250)) }

    fileprivate mutating func count(_ bytes: Int64) {
        guard let now = stopwatch?.elapsed else { return }
        moveOn(to: Self.quarter(now))
        quarters[quarters.count - 1] += bytes
    }

    /// Makes room for the present quarter, which comes last.
    private mutating func moveOn(to quarter: Int64) {
        if quarters.isEmpty { (quarters, firstQuarter) = ([0], quarter) }
        let missing = quarter - (firstQuarter + Int64(quarters.count) - 1)
        guard missing > 0 else { return }
        quarters += [Int64](repeating: 0, count: Int(min(missing, 81)))
        quarters = Array(quarters.suffix(81))
        firstQuarter = quarter - Int64(quarters.count) + 1
    }

    /// The median of the last quarters that are over, so that neither a pause nor a burst counts; the mean of more of them where most bytes
    /// come between pauses.
    fileprivate mutating func rate(at now: Duration) -> Double? {
        moveOn(to: Self.quarter(now))
        let over = quarters.dropLast()
        guard !over.isEmpty else { return nil }
        let last = over.suffix(20).sorted()
        if 4 * last.count(where: { $0 > 0 }) >= 3 * last.count { return Double(last[last.count / 2]) * 4 }
        return Double(over.reduce(0, +)) * 4 / Double(over.count)
    }
}
