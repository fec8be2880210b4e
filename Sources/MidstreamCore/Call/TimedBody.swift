internal import Interception

extension Call {
    /// Whether the deadline covers the body of a streamed response to a request.
    package func deadlineCoversBody(of request: HTTPRequest) -> Bool {
        request.deadlineCoversBody ?? owner.limits.deadlineCoversBody ?? false
    }
}

extension ChainPosition {
    /// Has the deadline cover a body that is still arriving, if that is wanted. An answer to the deadline, such as a fallback's file, isn't
    /// held to it any more.
    @inline(never)
    func limitBody(of response: inout HTTPResponse) {
        var position = self
        position.limit(deadline: response.request.deadline)
        guard response.body.bytes == nil, position.deadline != .max, let call, call.deadlineCoversBody(of: response.request),
            !(response.isWhole && position.isOver(position.deadline))
        else { return }
        let deadline = Duration.nanoseconds(position.deadline)
        response.body = response.body.timed(until: deadline, of: call.stopwatch) { [request = response.request] in
            HTTPError(
                .deadlineExceeded, "The call took longer than \(deadline), its body included.", request: request, phase: .answered
            )
        }
    }
}

extension HTTPBody {
    /// The body, which has to be read by this time on the call's stopwatch.
    ///
    /// - Parameter error: What reading it fails with later.
    package func timed(
        until end: Duration, of stopwatch: Stopwatch, error: @escaping @Sendable () -> HTTPError
    ) -> HTTPBody {
        // The task that reads isn't the reader's, but one that keeps the time.
        let chunks = ChunkReader(self)
        let source = ClosureBody(
            next: {
                let ending = await TimedWork.run(until: end, of: stopwatch) { try await chunks.next() }
                // A chunk that comes while its reader is cancelled is lost, and what follows must not pass for all of it.
                if case .success(let chunk) = ending.result, !ending.isLate { return chunk }
                close()
                guard ending.isLate else { return try ending.result.get() }
                throw error()
            }, trailers: { self.incoming?.trailers }, metrics: { self.incoming?.metrics }, isTransformed: { self.isTransformed },
            close: { late in if let late { close(late: late) } else { close() } })
        return HTTPBody(.incoming(IncomingChunks(source: source, length: length)), contentType: contentType)
    }
}
