#if os(Linux)
    internal import Interception
    internal import MidstreamCore

    /// The body of a response that a loop is receiving: the reader's end of a ``BodyStream``.
    ///
    /// The loop doesn't hold it, so that its release gives up the transfer.
    final class IncomingTransferBody: ReadyBody {
        private let stream: BodyStream

        init(_ stream: BodyStream) { self.stream = stream }

        deinit { close() }

        var isSpent: Bool { stream.isSpent }
        var trailers: HTTPHeaders? { stream.trailers }
        var metrics: TransportMetrics? { stream.metrics }
        var arrivals: CallersExecutor? { stream.transfer?.loop.executor }

        func takeAll() -> [UInt8]? { stream.takeAll() }

        nonisolated(nonsending) func next() async throws -> [UInt8]? {
            if Task.isCancelled { giveUp(CancellationError()) }
            switch stream.next() {
            case .chunk(let chunk, let resumes):
                if resumes, let transfer = stream.transfer { transfer.loop.post(.resumeReceiving(transfer)) }
                return try chunk.get()
            case .wait(let suspension):
                if case .value(let chunk) = await suspension.wait() { return try chunk.get() }
                giveUp(CancellationError())
                throw CancellationError()
            }
        }

        func close() {
            giveUp(HTTPError(.connectionLost, "The body was closed before its end.", phase: .answered))
        }

        func close(late error: HTTPError) {
            // Where there is something to read, its reader was slow, and not the server.
            guard let transfer = stream.transfer, stream.isDrained else { return giveUp(error) }
            if stream.close(error) { transfer.loop.post(.endLate(transfer, error)) }
        }

        private func giveUp(_ error: @autoclosure () -> any Error) {
            if stream.close(error()), let transfer = stream.transfer { transfer.loop.post(.cancel(transfer)) }
        }
    }
#endif
