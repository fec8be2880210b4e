internal import Interception
internal import MidstreamCacheStore
internal import MidstreamCore

/// Writes a response's body to the store while somebody reads it. Whatever goes wrong with the store ends the writing, and nothing else.
final class Recording: Sendable {
    /// What is to become of the bytes.
    struct Target: Sendable {
        /// The entry as it was before; new, or one that some bytes of are there.
        var entry: CacheEntry
        /// The request's own key. That of the entry may stand for several URLs (`No-Vary-Search`), and need not have been known when this one
        /// was removed.
        let asked: CacheKey
        /// The place of the first byte.
        var offset: Int64 = 0
        /// Whether it brings a part by what it says.
        var isPart = false
        /// How many bytes there have to be; nil: as many as come.
        var expected: Int64?
        /// The length of the whole, when it is known beforehand.
        var length: Int64?
        /// Whether what was cut off is worth keeping: what is missing can be fetched without mixing two versions.
        var keepsParts = false
        /// Whether it would take the place of a whole one, which a part doesn't.
        var replacesWhole = false
        /// How many bytes are there in another entry, whose place fewer don't take.
        var present: Int64 = 0
        /// How many bytes are written at most.
        var limit: Int64

        /// Whether nothing was removed since that makes the entry wrong. Of several URLs that it stands for any may have been.
        func isCurrent(by permit: CacheRemovals.Permit) -> Bool {
            guard permit.holds(for: entry.key) else { return false }
            return asked == entry.key
                || permit.holds(for: asked) && permit.holds(for: CacheKey(url: NoVarySearch.anything(like: asked.url)))
        }

        /// Whether nothing of it is stored, though all comes that was announced.
        var isWorthless: Bool { replacesWhole && expected.map { entry(holding: $0) == nil } ?? false }

        /// The entry with so many bytes more; nil when they are worth nothing.
        func entry(holding written: Int64, isCut: Bool = false) -> CacheEntry? {
            // Beyond that, there needn't be any place.
            guard written <= expected ?? .max else { return nil }
            if isCut || written != expected ?? written {
                // Bytes that are all there without their end having come may yet be refused at it.
                guard keepsParts, written > present, length != nil, written < expected ?? 0 else { return nil }
            }
            let range = offset..<(offset + written)
            let stored = entry.adding(range, of: length ?? range.upperBound)
            return replacesWhole && !stored.isWhole ? nil : stored
        }
    }

    private let target: Target
    private let permit: CacheRemovals.Permit
    private let report: @Sendable (Outcome) -> Void
    private let state: Locked<State>

    enum Outcome: Sendable { case stored, tooLarge, notStored(any Error), abandoned }

    private struct State {
        /// Nil while it is at work, and when it is done.
        var writer: (any CacheWriter)?
        var written: Int64 = 0
        /// Whether a transformation has made other bytes of those that came, to which a part needn't fit.
        var isTransformed = false
        /// Whether the body has ended before its end.
        var isCut = false
    }

    init(
        _ target: Target, writer: any CacheWriter, permit: CacheRemovals.Permit, report: @escaping @Sendable (Outcome) -> Void
    ) {
        self.target = target
        self.permit = permit
        self.report = report
        state = Locked(State(writer: writer))
    }

    deinit {
        // Whoever reads has let go.
        if let writer = state.withLock({ $0.writer.take() }) { Self.begin { [writer] in await writer.abandon() } }
    }

    /// Takes the next bytes.
    nonisolated(nonsending) func write(_ bytes: [UInt8], isTransformed: Bool = false) async {
        let (writer, written) = state.withLock { state in
            state.written += Int64(bytes.count)
            state.isTransformed = isTransformed
            return (state.writer.take(), state.written)
        }
        guard let writer else { return }
        guard written <= target.expected ?? .max else { return await giveUp(writer, .abandoned) }
        guard written <= target.limit else { return await giveUp(writer, .tooLarge) }
        do {
            try await writer.write(bytes)
        } catch {
            return await giveUp(writer, .notStored(error))
        }
        let isCut = state.withLock { state in
            state.writer = writer
            return state.isCut
        }
        if isCut { stop() }
    }

    /// The body has come to its end.
    nonisolated(nonsending) func finish() async { await commit(isCut: false) }

    /// The body has ended before its end. Doesn't wait for the store. Bytes that it is just taking come first.
    func stop() {
        let isIdle = state.withLock { state in
            state.isCut = true
            return state.writer != nil
        }
        if isIdle { Self.begin { await self.commit(isCut: true) } }
    }

    /// Begins what the store has to do about the end. The deadline of the reader doesn't count, since the body may have ended at it.
    private static func begin(_ work: @escaping @Sendable () async -> Void) {
        ChainPosition.local.withValue(ChainPosition.local.get()?.withoutDeadline) { _ = Task(operation: work) }
    }

    /// The body was refused: what has come of it is worth nothing.
    nonisolated(nonsending) func discard() async {
        if let writer = state.withLock({ $0.writer.take() }) { await giveUp(writer, .abandoned) }
    }

    nonisolated(nonsending) private func commit(isCut: Bool) async {
        let (writer, written, isTransformed) = state.withLock { ($0.writer.take(), $0.written, $0.isTransformed) }
        guard let writer else { return }
        guard !isTransformed || !isCut && !target.isPart, let entry = target.entry(holding: written, isCut: isCut) else {
            return await giveUp(writer, .abandoned)
        }
        do {
            let isStored = try await writer.commit(entry) { [permit, target] in target.isCurrent(by: permit) }
            if !isStored { await writer.abandon() }
            report(isStored ? .stored : .abandoned)
        } catch {
            report(.notStored(error))
        }
    }

    nonisolated(nonsending) private func giveUp(_ writer: any CacheWriter, _ outcome: Outcome) async {
        await writer.abandon()
        report(outcome)
    }
}

/// A body that is arriving, and is recorded as it is read.
final class RecordedBody: WrappingBody {
    let source: any IncomingBody
    private let recording: Recording

    init(_ source: any IncomingBody, _ recording: Recording) {
        self.source = source
        self.recording = recording
    }

    deinit { recording.stop() }

    func next() async throws -> [UInt8]? {
        do {
            guard let chunk = try await source.next() else {
                await recording.finish()
                return nil
            }
            await recording.write(chunk, isTransformed: source.isTransformed)
            return chunk
        } catch {
            if error.isLoss { recording.stop() } else { await recording.discard() }
            throw error
        }
    }

    func close() {
        source.close()
        recording.stop()
    }

    func close(late error: HTTPError) {
        source.close(late: error)
        recording.stop()
    }
}

extension Error {
    /// Whether the rest of a body was lost on its way, which says nothing against what had come; who checks bodies throws others.
    fileprivate var isLoss: Bool {
        guard let error = self as? HTTPError else { return self is CancellationError }
        return [.connectionLost, .connection, .timeout, .deadlineExceeded].contains(error.code)
    }
}
