internal import Foundation
internal import Interception
internal import MidstreamCore
internal import MidstreamTasks

/// One download to a file: asks for what is missing until nothing is, or it can't go on.
final class Download: Sendable {
    /// What is there isn't of use any more.
    struct StartsAgain: Error {
        /// What a transformation has made of the bytes of a part needn't go on with what it made of others.
        static let changedOnTheWay = StartsAgain(reason: "the bytes of parts are changed on the way")

        let reason: String
    }

    private struct State {
        var done = ByteRanges()
        var total: Int64?
        var validator: StrongValidator?
        /// Whether bytes are missing before others, so that the file's size doesn't show what is there.
        var isSparse = false
        /// What was there when the record was written.
        var recorded: Int64 = 0
        /// Whether encodings are taken, or have been undone unasked: the offsets of what comes then mean nothing to the server.
        var takesEncodings = false
        /// Whether parts that several connections asked for were of no use: a server may offer ranges and answer with the whole.
        var isSingle = false
        /// Whether there has been an answer with a body, so that a failure is one of the transfer.
        var hasBegun = false
    }

    /// So many bytes may have to be loaded again when the process ends.
    private static let recordInterval: Int64 = 8 << 20
    /// From here on several connections are worth it.
    private static let leastParallel: Int64 = 16 << 20

    private let source: DownloadSource
    private let part: PartFile
    private let state: Locked<State>
    private let attempts: ResumptionCount
    /// Held by who reports, so that of several connections the newest comes last.
    private let reporting = Locked(())

    init(_ source: DownloadSource, _ part: PartFile) {
        self.source = source
        self.part = part
        state = Locked(State())
        attempts = ResumptionCount(source.pace)
    }

    func run() async throws -> HTTPResponse {
        try adoptRecord()
        tellBeginning(isRestart: false)
        // Not only when nobody holds the file any more: the caller may go on at once.
        defer { part.unlock() }
        do {
            let response = try await fetch()
            try verify()
            try await complete()
            return response
        } catch {
            // Going on with what has another digest would end in the same.
            if (error as? HTTPError)?.code == .digestMismatch { part.discard() } else { leave() }
            throw error
        }
    }

    private func complete() async throws {
        guard source.options.isSynchronized else { return try part.complete(isSynchronized: false) }
        // A disk may take seconds for it, in which a thread of the pool would run no task.
        let end = Suspension<Result<Void, any Error>>()
        DispatchQueue.global().async { [part] in
            end.resume(Result { try part.complete(isSynchronized: true) })
        }
        try await end.value().get()
    }

    // MARK: What is there already

    private func adoptRecord() throws {
        let record = source.isResumable ? part.readRecord() : nil
        if let record, record.url == source.resource, let done = record.ranges(in: part.size), done.count > 0 {
            state.withLock { state in
                state.done = done
                (state.total, state.validator) = (record.total, record.validator)
                state.isSparse = record.done != nil
                state.recorded = done.count
            }
        } else {
            try part.clear()
        }
    }

    /// Keeps what a later download can use, and nothing else.
    private func leave() {
        let isUseful = state.withLock { $0.validator != nil && $0.done.count > 0 }
        guard isUseful else { return part.discard() }
        // Where the disk is full, the one that was written before is still right.
        try? record()
    }

    private func record() throws { try part.write(present()) }

    /// The record of what is there; nil when a later download couldn't use that.
    private func present() -> PartRecord? {
        state.withLock { state -> PartRecord? in
            guard let validator = state.validator else { return nil }
            var record = PartRecord(url: source.resource, validator: validator, total: state.total)
            if state.isSparse { record.done = state.done.ranges.map { [$0.lowerBound, $0.upperBound] } }
            state.recorded = state.done.count
            return record
        }
    }

    @inline(never)
    private func startAgain(takingEncodings: Bool = false) throws {
        state.withLock { state in
            state = State(takesEncodings: state.takesEncodings || takingEncodings, isSingle: state.isSingle, hasBegun: true)
        }
        tellBeginning(isRestart: true)
        try part.clear()
    }

    // MARK: Fetching

    private func fetch() async throws -> HTTPResponse {
        while true {
            let before = attempts.current
            do {
                // An answer may have only a part of the requested range.
                while true {
                    if let response = try await fetchMore() { return response }
                }
            } catch let again as StartsAgain {
                guard attempts.next(after: before) <= max(1, source.options.resumes) else {
                    throw HTTPError(.protocolViolation, "The download can't go on: \(again.reason).", phase: .answered)
                }
                source.record(.transferRestart(reason: again.reason))
                try startAgain()
            } catch let error as HTTPError where error.mayPass && state.withLock({ $0.hasBegun && $0.validator != nil }) {
                let attempt = attempts.next(after: before)
                guard attempt <= source.options.resumes else { throw error }
                error.response?.body.close()
                source.record(.transferInterruption(cause: "\(error.code)", bytes: state.withLock { $0.done.count }))
                try await source.pace.pause(before: attempt, after: error)
            }
        }
    }

    /// Asks once, and takes what comes; nil when something is still missing then.
    private func fetchMore() async throws -> HTTPResponse? {
        let (done, total, validator, takesEncodings) = state.withLock { ($0.done, $0.total, $0.validator, $0.takesEncodings) }
        // Where nothing is missing, the last byte once more: with it comes what proves the version, and the digest.
        let gap = done.count > 0 ? done.gaps(upTo: total ?? .max).first ?? (done.end - 1..<Int64.max) : nil
        let response = try await source.ask(gap, of: total, validator, isPlain: source.isResumable && !takesEncodings)
        // Another success, such as 202 or 204, is no representation of the resource (RFC 9110 §15.3).
        guard [.ok, .partialContent].contains(response.status) || response.status == .rangeNotSatisfiable && gap != nil else {
            throw try await source.refusal(of: response)
        }
        do {
            // A refusal has a page for a body, of which nothing is kept.
            if response.status != .rangeNotSatisfiable, source.isEncoded(response), !takesEncodings {
                try startAgain(takingEncodings: true)
                response.body.close()
                source.record(.transferRestart(reason: "the answer is encoded, though no encoding was asked for"))
                return nil
            }
            let question = RangeAnswer.Question(start: gap?.lowerBound, total: total, validator: validator)
            let answer = source.isWhole ? RangeAnswer(response, to: question) : .whole
            try await take(answer, response, gap)
        } catch {
            response.body.close()
            throw error
        }
        // A 416 proves no version and tells no digest: the last byte does.
        guard isComplete, response.status != .rangeNotSatisfiable else { return nil }
        return whole(after: response, isPart: gap != nil)
    }

    /// The response without its body; the head of the last part becomes that of the whole. Apart, as is a new start, so that what they need isn't
    /// kept while more is waited for.
    @inline(never)
    private func whole(after last: HTTPResponse, isPart: Bool) -> HTTPResponse {
        var response = last
        if state.withLock({ $0.takesEncodings }) { source.options.meter?.settle(wireBytes: response.metrics?.bytesReceived) }
        // Without its body it doesn't know them any more.
        (response.trailers, response.metrics) = (response.trailers, response.metrics)
        response.body = .empty
        guard isPart, response.headers.contains(.contentRange) else { return response }
        response.status = .ok
        response.headers.remove(.contentRange)
        response.headers.remove("Content-Digest")
        response.headers[.contentLength] = state.withLock { $0.total }.map { "\($0)" }
        return response
    }

    private func take(_ answer: RangeAnswer, _ response: HTTPResponse, _ gap: Range<Int64>?) async throws {
        switch answer {
        case .complete:
            response.body.close()
            source.note("nothing was missing")
            state.withLock { $0.total = $0.done.end }
        case .startAgain(let reason): throw StartsAgain(reason: reason)
        case .contradiction(let message): throw response.violation(message)
        case .whole:
            let known = state.withLock { $0.validator?.isTag(of: response.headers) == true ? $0.total : nil }
            if gap != nil {
                source.record(.transferRestart(reason: "the answer is the whole"))
                try startAgain()
            }
            source.take(response, isFirst: true)
            if let known, let told = response.body.length, known != told {
                throw response.violation("The server has \(told) bytes, and had \(known) with the same tag.")
            }
            try begin(response, of: response.body.length ?? known)
            let total = state.withLock { $0.total }
            try await receive(response, 0..<(total ?? .max), isOpen: total == nil)
        case .part(let range, let total):
            // When it has been read: the digests may stand behind its body.
            defer { source.take(response, isFirst: false) }
            state.withLock { state in
                state.total = total
                state.hasBegun = true
            }
            try expect(total)
            source.record(.transferResumption(offset: range.lowerBound, total: total, proof: "If-Range matched"))
            try await receive(response, range, isOpen: false)
        }
    }

    /// Takes over the head of a whole response.
    private func begin(_ response: HTTPResponse, of total: Int64?) throws {
        state.withLock { state in
            state.hasBegun = true
            state.total = total
            if response.isDecodedUnseen { state.takesEncodings = true }
            state.validator = source.isResumable && !state.takesEncodings ? StrongValidator(response.headers) : nil
        }
        try expect(total)
        try record()
    }

    private func expect(_ total: Int64?) throws {
        source.options.meter?.expect(total)
        if let total { try part.checkRoom(for: total) }
        report()
    }

    private func receive(_ response: HTTPResponse, _ range: Range<Int64>, isOpen: Bool) async throws {
        if let pieces = pieces(beginningWith: range, of: response) {
            state.withLock { $0.isSparse = true }
            try record()
            let (total, validator) = state.withLock { ($0.total ?? range.upperBound, $0.validator) }
            let fetch = ParallelFetch(source, pieces, of: total, validator, attempts) { [self] in try store($0, at: $1) }
            do {
                try await fetch.run(response)
            } catch let again as StartsAgain {
                state.withLock { $0.isSingle = true }
                throw again
            }
            return
        }
        var position = range.lowerBound
        for try await chunk in response.body {
            if response.body.isTransformed { try standAlone(range) }
            guard Int64(chunk.count) <= range.upperBound - position else {
                // Nothing says where in the representation the chunks before it belong, and they are in the file.
                try startAgain()
                throw response.violation("More than the \(range.upperBound - range.lowerBound) bytes came that were told.")
            }
            try store(chunk, at: position)
            position += Int64(chunk.count)
        }
        if isOpen {
            state.withLock { $0.total = position }
        } else if position < range.upperBound {
            throw response.lost(at: position, of: range.upperBound)
        }
    }

    /// Nothing goes on with what a transformation has made of the bytes.
    private func standAlone(_ range: Range<Int64>) throws {
        guard range.lowerBound == 0 else { throw StartsAgain.changedOnTheWay }
        guard state.withLock({ $0.validator.take() }) != nil else { return }
        try record()
    }

    /// What several connections can share; nil when one is enough.
    private func pieces(beginningWith range: Range<Int64>, of response: HTTPResponse) -> [Range<Int64>]? {
        let (done, total, validator, isSingle) = state.withLock { ($0.done, $0.total, $0.validator, $0.isSingle) }
        guard source.options.parallel > 1, !isSingle, let total, validator != nil, total - done.count >= Self.leastParallel,
            response.version == .http1_1,
            response.status == .partialContent || response.headers.members(of: .acceptRanges).contains("bytes"),
            // As each of the others has to.
            response.body.length == range.upperBound - range.lowerBound
        else { return nil }
        let gaps = done.gaps(upTo: total)
        // The first piece is what is arriving.
        guard let first = gaps.first, first.lowerBound == range.lowerBound, first.upperBound <= range.upperBound else {
            return nil
        }
        return gaps
    }

    private func tellBeginning(isRestart: Bool) {
        let (count, total) = state.withLock { ($0.done.count, $0.total) }
        source.options.meter?.begin(.download, at: count, of: total, isRestart: isRestart, on: source.pace.clock)
    }

    private func store(_ chunk: [UInt8], at position: Int64) throws {
        try part.write(chunk, at: position)
        let isDue = state.withLock { state in
            state.done.insert(position..<(position + Int64(chunk.count)))
            let count = state.done.count
            source.options.meter?.advance(to: count, wire: state.takesEncodings ? nil : Int64(chunk.count))
            guard state.isSparse, count - state.recorded >= Self.recordInterval else { return false }
            // Here, so that one connection of several does it.
            state.recorded = count
            return true
        }
        report()
        if isDue { try record() }
    }

    private func report() {
        guard let report = source.options.report else { return }
        reporting.withLock { _ in
            let (count, total) = state.withLock { ($0.done.count, $0.total) }
            report(TransferProgress(.download, bytes: count, total: total))
        }
    }

    // MARK: The end

    private var isComplete: Bool {
        state.withLock { state in state.total.map { $0 == 0 || state.done.ranges == [0..<$0] } ?? false }
    }

    private func verify() throws {
        let total = state.withLock { $0.total } ?? part.size
        for (expected, told) in source.digests.map({ ($0, "the server") })
            + [source.options.digest].compactMap({ $0 }).map({ ($0, "who asked for it") })
        {
            try expected.check(part.digest(expected.algorithm, upTo: total), toldBy: told)
        }
    }
}
