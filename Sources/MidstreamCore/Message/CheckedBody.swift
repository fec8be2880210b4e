internal import Interception

/// What looks at one reading of a body and may refuse its end. Used by one task at a time.
package struct BodyCheck {
    package let onChunk: ([UInt8]) throws -> Void
    package let atEnd: (HTTPHeaders?) throws -> Void

    /// - Parameters:
    ///   - onChunk: Gets each chunk before the reader does.
    ///   - atEnd: Gets the fields after the body. What it throws comes in place of the end.
    package init(onChunk: @escaping ([UInt8]) throws -> Void, atEnd: @escaping (HTTPHeaders?) throws -> Void) {
        self.onChunk = onChunk
        self.atEnd = atEnd
    }
}

extension HTTPBody {
    /// The same body, as replayable as it is, of which each reading is checked. An error of the check comes in place of the chunk or of
    /// the end, as often as it is asked for, and closes a body that is arriving. What is in memory becomes a stream; no body stays none.
    package func checked(_ begin: @escaping @Sendable () throws -> BodyCheck) -> HTTPBody {
        replacingChunks(length: length, contentType: contentType) { body in
            var chunks = body.makeAsyncIterator()
            var reading = CheckedReading(begin)
            return ChunkIterator {
                try await reading.next {
                    let chunk = try await chunks.next()
                    // An `AsyncStream` whose reader is cancelled ends as if it were complete.
                    if chunk == nil { try Task.checkCancellation() }
                    return chunk
                } trailers: {
                    nil
                }
            }
        } incoming: {
            CheckedIncoming($0, begin)
        }
    }
}

/// One reading, and its check.
private struct CheckedReading {
    private let begin: () throws -> BodyCheck
    private var check: BodyCheck?
    private var failure: (any Error)?
    private var isAtEnd = false

    init(_ begin: @escaping () throws -> BodyCheck) { self.begin = begin }

    mutating func next(_ advance: () async throws -> [UInt8]?, trailers: () -> HTTPHeaders?) async throws -> [UInt8]? {
        if let failure { throw failure }
        let chunk = try await advance()
        guard !isAtEnd else { return chunk }
        do {
            let check = try check ?? begin()
            self.check = check
            if let chunk {
                try check.onChunk(chunk)
            } else {
                isAtEnd = true
                try check.atEnd(trailers())
            }
        } catch {
            failure = error
            throw error
        }
        return chunk
    }
}

/// A body that a transport is receiving, checked.
private final class CheckedIncoming: IncomingBody {
    private let source: any IncomingBody
    /// Taken out while somebody reads.
    private let reading: Locked<CheckedReading?>

    init(_ source: any IncomingBody, _ begin: @escaping @Sendable () throws -> BodyCheck) {
        self.source = source
        reading = Locked(CheckedReading(begin))
    }

    func next() async throws -> [UInt8]? {
        let taken = reading.withLock { reading in
            defer { reading = nil }
            return reading
        }
        guard var taken else { throw HTTPError.alreadyRead() }
        do {
            let chunk = try await taken.next {
                try await source.next()
            } trailers: {
                source.trailers
            }
            reading.withLock { $0 = taken }
            return chunk
        } catch {
            reading.withLock { $0 = taken }
            source.close()
            throw error
        }
    }

    func close() { source.close() }
    var isSpent: Bool { source.isSpent }
    var trailers: HTTPHeaders? { source.trailers }
    var metrics: TransportMetrics? { source.metrics }
}
