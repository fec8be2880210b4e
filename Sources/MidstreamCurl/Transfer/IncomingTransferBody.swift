#if Curl && os(Linux)
    internal import MidstreamCore

    /// The body of a response that a loop is receiving: the reader's end of a ``BodyStream``.
    ///
    /// Nothing of the loop's holds it, so that its release, when nobody can read it any more, gives up the transfer.
    final class IncomingTransferBody: PromptBody {
        private let stream: BodyStream
        private let transfer: Transfer

        init(stream: BodyStream, transfer: Transfer) {
            self.stream = stream
            self.transfer = transfer
        }

        deinit { close() }

        var isSpent: Bool { stream.isSpent }
        var trailers: HTTPHeaders? { stream.trailers }
        var metrics: TransportMetrics? { stream.metrics }
        var hasArrived: Bool { stream.hasArrived }

        func takeAll() -> [UInt8]? { stream.takeAll() }

        nonisolated(nonsending) func next() async throws -> [UInt8]? {
            if Task.isCancelled { giveUp(CancellationError()) }
            switch stream.next() {
            case .chunk(let chunk, let resumes):
                if Task.isCancelled { break }
                if resumes { transfer.loop.post(.resumeReceiving(transfer)) }
                return chunk
            case .end: return nil
            case .failed(let error):
                if Task.isCancelled { break }
                throw error
            case .wait: break
            }
            return try await wait()
        }

        func close() {
            giveUp(HTTPError(.connectionLost, "The body was closed before its end.", phase: .answered))
        }

        nonisolated(nonsending) private func wait() async throws -> [UInt8]? {
            try Task.checkCancellation()
            return try await withTaskCancellationHandler {
                try await withUnsafeThrowingContinuation { reader in
                    let next = stream.next(orResume: reader)
                    if case .chunk(_, resumes: true) = next { transfer.loop.post(.resumeReceiving(transfer)) }
                    BodyStream.resume(reader, next)
                }
            } onCancel: {
                giveUp(CancellationError())
            }
        }

        private func giveUp(_ error: any Error) {
            if stream.close(error) { transfer.loop.post(.cancel(transfer)) }
        }
    }
#endif
