internal import MidstreamCore

/// Fetches pieces of a representation over several connections.
struct ParallelFetch: Sendable {
    /// How long a piece may bring nothing before somebody who has nothing to do takes it over.
    private static let patience = Duration.seconds(2)
    /// More than servers give to one client; and each that has nothing to do looks through all pieces every second.
    private static let mostWorkers = 64

    private let source: DownloadSource
    private let pool: PiecePool
    private let total: Int64
    private let validator: StrongValidator?
    private let attempts: ResumptionCount
    private let store: @Sendable ([UInt8], Int64) throws -> Void
    private let stopwatch: Stopwatch

    /// - Parameters:
    ///   - ranges: What is missing, in order.
    ///   - attempts: How often the call has asked again for what broke off.
    ///   - store: Gets bytes and where they belong.
    init(
        _ source: DownloadSource, _ ranges: [Range<Int64>], of total: Int64, _ validator: StrongValidator?,
        _ attempts: ResumptionCount, store: @escaping @Sendable ([UInt8], Int64) throws -> Void
    ) {
        self.source = source
        self.total = total
        self.validator = validator
        self.attempts = attempts
        self.store = store
        pool = PiecePool(ranges)
        stopwatch = Stopwatch(on: source.pace.clock)
    }

    /// Fetches all.
    ///
    /// - Parameter response: What brings the first of the pieces.
    func run(_ response: HTTPResponse) async throws {
        // The one that is arriving is the first that is taken.
        guard let first = pool.take(), pool.began(first, response.body) else { return response.body.close() }
        let workers = min(source.options.parallel, Self.mostWorkers)
        source.note("fetches over \(workers) connections")
        let arriving = (first, response.body, attempts.current)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask { try await work(beginningWith: arriving) }
            for _ in 1..<max(1, workers) { group.addTask { try await work() } }
            var isDone = false
            var failure: (any Error)?
            while let result = await group.nextResult() {
                switch result {
                case .success(false): continue
                case .success(true): isDone = true
                // One that still waits for something isn't needed any more, or is stopped by what befell another.
                case .failure(let error) where error is CancellationError && (isDone || failure != nil): break
                case .failure(let error): failure = failure ?? error
                }
                response.body.close()
                group.cancelAll()
            }
            if let failure { throw failure }
        }
    }

    /// Works until all is there; false when the rest is left to others.
    private func work(beginningWith given: (PiecePool.Number, HTTPBody, before: Int)? = nil) async throws -> Bool {
        var given = given
        while let (number, before) = try await nextPiece(given.map { ($0.0, $0.before) }) {
            do {
                try await fetch(number, given?.1)
            } catch let error as HTTPError where error.mayPass {
                if pool.isDispensable(number) {
                    pool.giveBack(number)
                    source.note("goes on over fewer connections: \(error.code)")
                    return false
                }
                // Of one that another has taken over nothing is missing.
                if !pool.range(of: number).isEmpty {
                    let attempt = attempts.next(after: before, pausingFor: error)
                    guard attempt <= source.options.resumes else { throw error }
                    pool.giveBack(number)
                    source.note("asks again for bytes from \(pool.range(of: number).lowerBound) on: \(error.code)")
                }
            }
            given = nil
        }
        return true
    }

    /// What to do next, and after how many breaks; waits while others may still leave something. Nil when all is there.
    private func nextPiece(_ given: (PiecePool.Number, Int)?) async throws -> (PiecePool.Number, Int)? {
        if let given { return given }
        while !pool.isDone {
            let before = try await attempts.afterPause()
            if let number = pool.take() { return (number, before) }
            if let number = pool.takeStalled(for: Self.patience, at: stopwatch.elapsed) {
                source.note("takes over from \(pool.range(of: number).lowerBound), where nothing came")
                return (number, before)
            }
            try await source.pace.clock.pause(for: Self.patience / 2)
        }
        return nil
    }

    private func fetch(_ number: PiecePool.Number, _ arriving: HTTPBody?) async throws {
        let range = pool.range(of: number)
        guard !range.isEmpty else { return }
        // What the body brings by its head.
        var (position, end) = (range.lowerBound, range.upperBound)
        let body: HTTPBody
        if let arriving {
            body = arriving
        } else {
            let response = try await source.ask(range, of: total, validator, isPlain: true)
            body = response.body
            let question = RangeAnswer.Question(start: range.lowerBound, total: total, validator: validator)
            guard !source.isEncoded(response), case .part(let came, _) = RangeAnswer(response, to: question),
                // Without a length too much of it would show only at its end, which isn't read where another takes over the rest.
                body.length == came.upperBound - came.lowerBound
            else {
                body.close()
                throw Download.StartsAgain(reason: "what came is no part of the same version, encoded, or of no told length")
            }
            source.take(response, isFirst: false)
            (position, end) = (came.lowerBound, came.upperBound)
        }
        guard pool.began(number, body) else { return body.close() }
        do {
            for try await chunk in body {
                if body.isTransformed { throw Download.StartsAgain.changedOnTheWay }
                // What comes before the piece, from a server that began earlier, is there already.
                let skipped = Int(max(0, min(Int64(chunk.count), range.lowerBound - position)))
                position += Int64(skipped)
                let own = Int(pool.advance(number, by: Int64(chunk.count - skipped)))
                if own > 0 {
                    try store(skipped == 0 && own == chunk.count ? chunk : Array(chunk[skipped..<(skipped + own)]), position)
                }
                position += Int64(own)
                // The rest is another's.
                if pool.range(of: number).isEmpty { return body.close() }
            }
        } catch {
            body.close()
            throw error
        }
        guard position == end else {
            throw HTTPError(.connectionLost, "The body ended after \(position) bytes, within its range.", phase: .answered)
        }
        // A server may send less than was asked for (RFC 9110 §15.3.7).
        pool.giveBack(number)
    }
}
