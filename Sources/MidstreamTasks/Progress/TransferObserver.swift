internal import Interception
internal import MidstreamCore

/// Counts the bytes of a request's and a response's body, for those who asked.
struct TransferObserver: Sendable {
    private let watched: TransferProgress.Watched
    private let report: @Sendable (TransferProgress) -> Void

    init(_ watched: TransferProgress.Watched, _ report: @escaping @Sendable (TransferProgress) -> Void) {
        self.watched = watched
        self.report = report
    }

    var watchesDownload: Bool { watched != .upload }

    private var watchesUpload: Bool { watched != .download }

    /// An observer that tells both.
    func and(_ other: TransferObserver?) -> TransferObserver {
        guard let other else { return self }
        return TransferObserver(watched == other.watched ? watched : .both) { [self] progress in
            tell(progress)
            other.tell(progress)
        }
    }

    private func tell(_ progress: TransferProgress) {
        guard progress.direction == .upload ? watchesUpload : watchesDownload else { return }
        report(progress)
    }

    func observing(sent body: HTTPBody) -> HTTPBody {
        guard watchesUpload, body.length != 0 else { return body }
        let length = body.length
        let chunks = ObservedChunks(body: body) { tell(TransferProgress(.upload, bytes: $0, total: length)) }
        return body.replayability == .replayable ? .stream(length: length) { chunks } : .once(chunks, length: length)
    }

    func observing(received body: HTTPBody) -> HTTPBody {
        guard watchesDownload else { return body }
        let length = body.length
        let report: @Sendable (Int64) -> Void = { tell(TransferProgress(.download, bytes: $0, total: length)) }
        if let incoming = body.incoming { return .incoming(ObservedIncoming(incoming, report), length: length) }
        if let bytes = body.bytes {
            report(Int64(bytes.count))
            return body
        }
        return .once(ObservedChunks(body: body, report: report), length: length)
    }
}

/// The chunks of a body, no larger than what makes a progress worth watching.
private struct ObservedChunks: AsyncSequence, Sendable {
    static let largest = 64 << 10

    let body: HTTPBody
    let report: @Sendable (Int64) -> Void

    struct AsyncIterator: AsyncIteratorProtocol {
        var chunks: HTTPBody.AsyncIterator
        var rest: ArraySlice<UInt8> = []
        var count: Int64 = 0
        let report: @Sendable (Int64) -> Void

        mutating func next() async throws -> [UInt8]? {
            if rest.isEmpty {
                guard let chunk = try await chunks.next() else { return nil }
                rest = chunk[...]
            }
            let piece = rest.prefix(ObservedChunks.largest)
            rest = rest.dropFirst(piece.count)
            count += Int64(piece.count)
            report(count)
            return Array(piece)
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(chunks: body.makeAsyncIterator(), report: report) }
}

/// A body that a transport is receiving, counted as it is read.
private final class ObservedIncoming: IncomingBody {
    private let source: any IncomingBody
    private let count = Locked<Int64>(0)
    private let report: @Sendable (Int64) -> Void

    init(_ source: any IncomingBody, _ report: @escaping @Sendable (Int64) -> Void) {
        self.source = source
        self.report = report
    }

    func next() async throws -> [UInt8]? {
        guard let chunk = try await source.next() else { return nil }
        report(
            count.withLock { count in
                count += Int64(chunk.count)
                return count
            })
        return chunk
    }

    func close() { source.close() }
    var isSpent: Bool { source.isSpent }
    var trailers: HTTPHeaders? { source.trailers }
    var metrics: TransportMetrics? { source.metrics }
}
