internal import Interception
internal import MidstreamCore

/// Counts the bytes of a request's and a response's body.
struct TransferObserver: Sendable {
    /// nil: both.
    private let direction: TransferProgress.Direction?
    private let report: @Sendable (TransferProgress) -> Void

    init(_ direction: TransferProgress.Direction?, _ report: @escaping @Sendable (TransferProgress) -> Void) {
        self.direction = direction
        self.report = report
    }

    var watchesDownload: Bool { direction != .upload }

    private var watchesUpload: Bool { direction != .download }

    /// An observer that reports to both.
    func and(_ other: TransferObserver?) -> TransferObserver {
        guard let other else { return self }
        return TransferObserver(direction == other.direction ? direction : nil) { [self] progress in
            tell(progress)
            other.tell(progress)
        }
    }

    private func tell(_ progress: TransferProgress) {
        guard progress.direction == .upload ? watchesUpload : watchesDownload else { return }
        report(progress)
    }

    func observing(sent body: HTTPBody) -> HTTPBody {
        // One that is made of a spent body doesn't look spent, so the head would be sent before that shows.
        guard watchesUpload, body.length != 0, !body.isSpent else { return body }
        let length = body.length
        let pieces = Pieces(body: body)
        let sent: HTTPBody =
            body.replayability == .replayable ? .stream(length: length) { pieces } : .once(pieces, length: length)
        // Where an interceptor has put the body in, the request has no other `Content-Type` yet.
        return counted(body.contentType.map { sent.withContentType($0) } ?? sent, .upload, total: length)
    }

    func observing(received body: HTTPBody) -> HTTPBody {
        guard watchesDownload else { return body }
        if let bytes = body.bytes {
            let count = Int64(bytes.count)
            tell(TransferProgress(.download, bytes: count, total: count))
            return body
        }
        return counted(body, .download, total: body.length)
    }

    /// The body with its bytes counted, from none in each reading.
    private func counted(_ body: HTTPBody, _ direction: TransferProgress.Direction, total: Int64?) -> HTTPBody {
        body.observed {
            let count = Locked<Int64>(0)
            return HTTPBody.Observer { chunk in
                let bytes = count.withLock { count in
                    count += Int64(chunk.count)
                    return count
                }
                tell(TransferProgress(direction, bytes: bytes, total: total))
            }
        }
    }
}

/// The chunks of a body, no larger than what makes a progress worth watching.
private struct Pieces: AsyncSequence, Sendable {
    static let largest = 64 << 10

    let body: HTTPBody

    struct AsyncIterator: AsyncIteratorProtocol {
        var chunks: HTTPBody.AsyncIterator
        var rest: ArraySlice<UInt8> = []

        mutating func next() async throws -> [UInt8]? {
            if rest.isEmpty {
                guard let chunk = try await chunks.next() else { return nil }
                if chunk.count <= Pieces.largest { return chunk }
                rest = chunk[...]
            }
            let piece = rest.prefix(Pieces.largest)
            rest = rest.dropFirst(piece.count)
            return Array(piece)
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(chunks: body.makeAsyncIterator()) }
}
