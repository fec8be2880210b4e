internal import Interception

extension Call {
    /// Whether the deadline covers the body of a streamed response to a request.
    func deadlineCoversBody(of request: HTTPRequest) -> Bool {
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
        response.body = response.body.timed(until: .nanoseconds(position.deadline), of: call.stopwatch)
    }
}

extension HTTPBody {
    /// The body, which has to be read by this time on the call's stopwatch.
    fileprivate func timed(until deadline: Duration, of stopwatch: Stopwatch) -> HTTPBody {
        // The task that reads isn't the reader's, but one that keeps the time.
        let chunks = ChunkReader(self)
        let source = ClosureBody(
            next: {
                let ending = await TimedWork.run(until: deadline, of: stopwatch) { try await chunks.next() }
                // A chunk that comes while its reader is cancelled is lost, and what follows must not pass for all of it.
                if case .success(let chunk) = ending.result, !ending.isLate { return chunk }
                close()
                guard ending.isLate else { return try ending.result.get() }
                throw HTTPError(
                    .deadlineExceeded, "The call took longer than \(deadline), its body included.", phase: .answered)
            }, trailers: { self.incoming?.trailers }, metrics: { self.incoming?.metrics }, close: { close() })
        return HTTPBody(.incoming(IncomingChunks(source: source, length: length)), contentType: contentType)
    }
}
