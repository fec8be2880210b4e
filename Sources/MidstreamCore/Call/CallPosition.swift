public import Interception

extension ChainPosition {
    /// The call that the run belongs to.
    package var call: Call? { run as? Call }

    /// Takes the body of a response into memory, if that is how the call wants it and it isn't there yet.
    ///
    /// - Throws: What ``HTTPBody/collect(upTo:)`` throws; ``HTTPError/Code/timeout`` or ``HTTPError/Code/deadlineExceeded`` when the time is
    ///   over before its end. An answer to that, such as a fallback's file, isn't held to it any more.
    package func deliver(_ response: inout HTTPResponse) async throws {
        guard response.body.bytes == nil, let call, case .buffered(let limit) = call.delivery else { return }
        guard due != .max, !(response.isWhole && isOver(due)) else { return try await response.buffer(upTo: limit) }
        let arriving = response
        response = try await withinTimeLeft(phase: .answered) { _ in
            var response = arriving
            try await response.buffer(upTo: limit)
            return response
        }
    }
}

extension Next where Input == HTTPRequest, Output == HTTPResponse {
    /// The call that the run belongs to; nil outside a client's pipeline.
    package var call: Call? { position.call }

    /// The clock of the client that makes the call (``HTTPClient/Configuration/clock``), to wait and to measure by; the system's outside a
    /// client's pipeline.
    public var clock: any Clock<Duration> { position.call?.stopwatch.clock ?? ContinuousClock() }

    /// Whether that call, if there is one, goes by the system's clock.
    package var isOnSystemClock: Bool { position.call?.stopwatch.isOnSystemClock ?? true }

    /// The rest of the pipeline as a branch of the call, which can be given up without its siblings: what an interceptor needs that sends a
    /// request twice at the same time and keeps one of the responses.
    ///
    /// ```swift
    /// let (first, second) = (next.branch(), next.branch())
    /// // … `second` has won:
    /// first.giveUp()
    /// ```
    ///
    /// - Parameter asHedge: Whether what is sent through it is a hedge (``Next/isHedge``).
    public func branch(asHedge: Bool = false) -> Self { branched(asHedge: asHedge) }

    /// Such a branch whose bodies others read as well: they aren't given up with the call, unless that adopts them
    /// (``Call/adopt(_:)``).
    package func branchApart() -> Self { branched(isApart: true) }

    private func branched(asHedge: Bool = false, isApart: Bool = false) -> Self {
        var next = self
        if let call { next.position.run = call.branch(asHedge: asHedge, isApart: isApart) }
        // It may run in a task that isn't cancelled with this one, and does if it is apart.
        if isApart || position.isInterrupted == true { next.position.isInterrupted = isApart ? false : nil }
        return next
    }

    /// Closes all bodies of streamed responses that have come through this branch of the call, including those that interceptors further in
    /// have wrapped or kept. Of what a cache shares with other calls its own share alone is closed. Doesn't cancel what is still waiting
    /// for a response: the task that runs it does.
    public func giveUp() { call?.giveUp() }

    /// Whether what is sent is a hedge: a second exchange that has begun because the first is slow. It is of use at once or not at all: a
    /// limit and a quota refuse it rather than have it wait, and a breaker doesn't try a server by it.
    public var isHedge: Bool { call?.isHedge ?? false }

    /// The same at another position of the run.
    package func at(_ position: ChainPosition) -> Self {
        var next = self
        next.position = position
        return next
    }
}
