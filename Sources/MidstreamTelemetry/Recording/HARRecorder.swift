internal import Foundation
internal import Interception
public import MidstreamCore

/// Writes the exchanges of clients to a file in the format HTTP Archive 1.2, which browsers, proxies and ``ReplayTransport`` read. Secrets
/// are withheld.
///
/// ```swift
/// let recorder = try HARRecorder(file: "calls.har")
/// let client = HTTPClient(configuration: .init(observers: [recorder]))
/// // … at the end:
/// await recorder.flush()
/// ```
///
/// The file is complete after each exchange, and after the process was killed at most the last one is missing
/// (``HARArchive/init(contentsOf:limit:)`` reads it). Files are written by a task of their own: calls don't wait for it, and what a slow disk
/// leaves no room for is counted in ``dropped``.
public final class HARRecorder: CallObserver {
    private let sink: ArchiveSink
    private let buffered: BufferedObserver

    /// Makes a file that only its owner can read.
    ///
    /// - Parameters:
    ///   - file: Its path.
    ///   - bodies: How many bytes of each body are kept; 64 KiB by default.
    ///   - limit: How many exchanges are written; 10,000 by default, and no more than ``HARArchive/defaultLimit`` has room for. Later ones are
    ///     counted in the last entry.
    ///   - isContinued: Whether a file that a recorder has made before is continued; false by default: it is an error. So is one to which
    ///     another recorder writes that hasn't been closed, such as that of a process that is about to end.
    ///   - redaction: What is withheld beside what always is; nil: as the client's configuration says.
    ///   - includesSecrets: Whether nothing is withheld; false by default.
    /// - Throws: ``HARArchive/Failure``.
    public init(
        file: String, bodies: Int = 64 << 10, limit: Int = 10_000, isContinued: Bool = false, redaction: Redaction? = nil,
        includesSecrets: Bool = false
    ) throws {
        sink = ArchiveSink(
            try HARFile(at: file, isContinued: isContinued), keepsBodies: bodies, limit: limit, redaction: redaction,
            includesSecrets: includesSecrets)
        buffered = BufferedObserver(sink)
    }

    /// How many observations were dropped because the disk was too slow.
    public var dropped: Int { buffered.dropped }

    /// How many exchanges the file had no room for.
    package var omitted: Int { sink.omitted }

    /// Why nothing is written any more, such as a full disk; nil: all is well.
    public var failure: HARArchive.Failure? { sink.failure }

    /// Returns when all that has ended is in the file. An exchange whose body is still arriving is written as it is, and not again.
    public func flush() async {
        await buffered.flush()
        sink.writeOpen()
    }

    /// Does what ``flush()`` does, and gives the file up: another recorder may continue it. What comes then isn't written.
    public func close() async {
        await flush()
        sink.close()
    }

    /// As many bytes as it was made with.
    public var keepsBodies: Int { sink.keepsBodies }
    /// Hands it on.
    public func happened(_ event: CallEvent, at time: Duration, in call: CallRecord.ID) {
        buffered.happened(event, at: time, in: call)
    }
    /// Hands it on.
    public func endedExchange(_ exchange: ExchangeRecord) { buffered.endedExchange(exchange) }
    /// Hands it on.
    public func endedBody(_ end: HTTPBody.End, of exchange: ExchangeRecord) { buffered.endedBody(end, of: exchange) }
    /// Hands it on.
    public func endedCall(_ call: CallRecord) { buffered.endedCall(call) }
}

final class ArchiveSink: CallObserver {
    private typealias Events = [(event: CallEvent, time: Duration)]

    private struct State {
        /// Nil: it was given up.
        var file: HARFile?
        var failure: HARArchive.Failure?
        /// The events of calls that are under way.
        var events: [CallRecord.ID: Events] = [:]
        /// Exchanges whose bodies are arriving, mostly after the end of the call.
        var open: [ExchangeRecord.ID: (exchange: ExchangeRecord, events: Events)] = [:]
        var omitted = 0
    }

    private let state: Locked<State>
    let keepsBodies: Int
    private let limit: Int
    private let redaction: Redaction?
    private let includesSecrets: Bool

    init(_ file: sending HARFile, keepsBodies: Int, limit: Int, redaction: Redaction?, includesSecrets: Bool) {
        state = Locked(State(file: file))
        self.keepsBodies = max(0, keepsBodies)
        self.limit = max(1, limit)
        self.redaction = redaction
        self.includesSecrets = includesSecrets
    }

    var failure: HARArchive.Failure? { state.withLock { $0.failure } }
    var omitted: Int { state.withLock { $0.omitted } }

    func happened(_ event: CallEvent, at time: Duration, in call: CallRecord.ID) {
        state.withLock { state in
            guard state.events[call, default: []].count < 100 else { return }
            state.events[call, default: []].append((event, time))
        }
    }

    func endedExchange(_ exchange: ExchangeRecord) {
        state.withLock { state in
            let events = state.events[exchange.call] ?? []
            if exchange.isBodyArriving { state.open[exchange.id] = (exchange, events) } else { write(exchange, events, &state) }
        }
    }

    func endedBody(_ end: HTTPBody.End, of exchange: ExchangeRecord) {
        state.withLock { state in
            if let (_, events) = state.open.removeValue(forKey: exchange.id) { write(exchange, events, &state) }
        }
    }

    func endedCall(_ call: CallRecord) {
        state.withLock { state in
            _ = state.events.removeValue(forKey: call.id)
            if let entry = HAREntry(call, redaction: includesSecrets ? nil : redaction ?? call.redaction) { write(entry, &state) }
        }
    }

    func writeOpen() {
        state.withLock { state in
            let open = state.open.values.sorted { $0.exchange.date < $1.exchange.date }
            for (exchange, events) in open { write(exchange, events, &state) }
            state.open = [:]
            guard state.omitted > 0, var last = state.file?.last, state.failure == nil else { return }
            // One that was found may tell of a recorder before.
            let omitted = state.omitted &+ (last._midstream?.omitted ?? 0)
            last.comment = "\(omitted) more were left out"
            last._midstream?.omitted = omitted
            attempt(&state) { try $0.replaceLast(by: last) }
        }
    }

    func close() { state.withLock { $0.file = nil } }

    private func write(_ exchange: ExchangeRecord, _ events: Events, _ state: inout State) {
        let redaction = includesSecrets ? nil : redaction ?? exchange.redaction
        let events = events.map { HAREntry.Event($0.event, at: $0.time, redaction: redaction) }
        write(HAREntry(exchange, redaction: redaction, events: events), &state)
    }

    private func write(_ entry: @autoclosure () -> HAREntry, _ state: inout State) {
        guard state.failure == nil, let file = state.file else { return }
        var isAdded = false
        if file.count < limit, state.omitted == 0 {
            let entry = entry()
            attempt(&state) { isAdded = try $0.add(entry) }
        }
        if !isAdded, state.failure == nil { state.omitted += 1 }
    }

    private func attempt(_ state: inout State, _ write: (HARFile) throws -> Void) {
        do {
            if let file = state.file { try write(file) }
        } catch {
            state.failure = .file("the archive can't be written: \(cause(ofFile: error))")
        }
    }
}
