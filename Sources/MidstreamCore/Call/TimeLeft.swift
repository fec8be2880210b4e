public import Interception

extension ChainPosition {
    /// How much time what lies further in has left, zero or less when it is over; nil: no limit.
    package var timeLeft: Duration? {
        guard due != .max, let call else { return nil }
        return .nanoseconds(due - call.stopwatch.elapsedNanoseconds)
    }

    /// Sets the deadline of what lies further in, from the start of the call, unless an earlier one holds.
    package mutating func limit(deadline: Duration?) {
        guard let deadline, deadline < .longest else { return }
        limit(deadline: max(.zero, deadline).wholeNanoseconds)
    }

    /// - Parameter nanoseconds: On the call's stopwatch.
    mutating func limit(deadline nanoseconds: Int64) {
        guard nanoseconds < deadline else { return }
        deadline = nanoseconds
        isInterrupted = false
    }

    /// Leaves a note where the deadline that an interceptor has set is longer than the one that holds.
    @inline(never)
    func noteDeadline(of request: HTTPRequest) {
        let asked = request.limits.deadline
        guard asked != request.context.keptLimits.deadline, let asked, deadline != .max, asked > .nanoseconds(deadline) else {
            return
        }
        note({ "a deadline of \(asked) came too late: \(Duration.nanoseconds(deadline)) holds" }, about: request)
    }

    /// Whether a time on the call's stopwatch is over.
    package func isOver(_ due: Int64) -> Bool {
        guard due != .max, let call else { return false }
        return call.stopwatch.elapsedNanoseconds >= due
    }

    /// The error of the limit that comes first.
    @inline(never)
    package func overdue(phase: HTTPError.Phase) -> HTTPError {
        let error = deadline <= timeout ? HTTPError.pastDeadline(.nanoseconds(deadline), phase: phase) : .timedOut(phase: phase)
        return phase == .notSent ? error.refusedHere : error
    }

    /// What a wait ends with whose task was cancelled: the error of the limit that is over by then, since the end of the time cancels tasks, or
    /// else the cancellation.
    @inline(never)
    package func cancelled(phase: HTTPError.Phase) -> any Error {
        isOver(due) ? overdue(phase: phase) : CancellationError()
    }

    /// What a wait ends with; nil: it has brought its value.
    package func error<Value: Sendable>(of ending: Suspension<Value>.Ending, phase: HTTPError.Phase) -> (any Error)? {
        switch ending {
        case .value: nil
        case .timedOut: overdue(phase: phase)
        case .cancelled: cancelled(phase: phase)
        }
    }

    /// The deadline or the cancellation of the task; nil: neither.
    package var reasonToEnd: (any Error)? {
        if isOver(deadline) { return overdue(phase: .maybeProcessed) }
        return Task.isCancelled ? CancellationError() : nil
    }

    /// Runs work that may wait for anything, and cancels it when the time is over.
    ///
    /// - Parameter phase: How far the request has come by then.
    /// - Throws: ``HTTPError/Code/deadlineExceeded`` or ``HTTPError/Code/timeout`` when the time is over, even if the work has succeeded.
    package func withinTimeLeft<Value: Sendable>(
        phase: HTTPError.Phase, _ work: @escaping @Sendable (ChainPosition) async throws -> Value
    ) async throws -> Value {
        let result = await interrupting(at: due, work)
        if isOver(due) { throw overdue(phase: phase) }
        return try result.get()
    }

    /// Runs work that may wait for anything, and cancels it at the deadline. A late result counts: it may be an interceptor's fallback.
    ///
    /// - Throws: ``HTTPError/Code/deadlineExceeded`` in place of the cancellation that the deadline has caused.
    package func untilDeadline<Value: Sendable>(
        _ work: @escaping @Sendable (ChainPosition) async throws -> Value
    ) async throws -> Value {
        let result =
            if isInterrupted == false, deadline != .max {
                await interruptingFirst(work)
            } else {
                await interrupting(at: deadline, work)
            }
        if case .failure(let error) = result, error is CancellationError, isOver(deadline) {
            // The library's waits throw the limit's error themselves, so this was a wait of the user's code, not for the server.
            throw overdue(phase: .maybeProcessed).refusedHere
        }
        return try result.get()
    }

    /// Runs work that the deadline doesn't bind, since it is over. Where that cancels the present task, which it may be about to, the work has one
    /// of its own, which ends when the call's user leaves.
    package func afterDeadline<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await ChainPosition.local.withValue(withoutDeadline) {
            guard isInterrupted != false else { return try await work() }
            let tasks = RunningTasks.afterDeadline ?? RunningTasks()
            let answer = Suspension<Result<Value, any Error>>()
            tasks.start { answer.resume(await .of(work)) }
            return try await answer.value().get()
        }
    }

    /// Runs work in a child task that is cancelled at the deadline, as the first of the run to do so. What is done after the deadline is cancelled
    /// with the present task.
    private func interruptingFirst<Value: Sendable>(
        _ work: @escaping @Sendable (ChainPosition) async throws -> Value
    ) async -> Result<Value, any Error> {
        let tasks = RunningTasks()
        return await withTaskCancellationHandler {
            await RunningTasks.$afterDeadline.withValue(tasks) { await interrupting(at: deadline, work) }
        } onCancel: {
            tasks.cancel()
        }
    }

    /// Runs work in a child task that is cancelled at a time; in this one, if it is cancelled then as well. Nothing else interrupts work.
    private func interrupting<Value: Sendable>(
        at due: Int64, _ work: @escaping @Sendable (ChainPosition) async throws -> Value
    ) async -> Result<Value, any Error> {
        var inner = self
        guard due != .max, let call, !(isInterrupted == true && due == deadline) else {
            do { return .success(try await work(inner)) } catch { return .failure(error) }
        }
        if due <= deadline { inner.isInterrupted = true }
        return await TimedWork.run(until: .nanoseconds(due), of: call.stopwatch) { [inner] in try await work(inner) }.result
    }
}

extension Next where Input == HTTPRequest, Output == HTTPResponse {
    /// How much time what lies further in has: until the attempt's timeout or the call's deadline, whichever comes first. Zero or less
    /// when it is over, nil when there is no limit.
    public var timeLeft: Duration? { position.timeLeft }

    /// Runs work that may wait for anything, such as a place in a queue, in a child task that is cancelled when no time is left.
    ///
    /// For interceptors with the trait ``InterceptorTraits/endsInTime``, which the pipeline doesn't interrupt.
    ///
    /// ```swift
    /// do {
    ///     try await next.withinTimeLeft { try await place.wait() }
    /// } catch {
    ///     queue.leave(place)      // gives a permit back that came too late
    ///     throw error
    /// }
    /// ```
    ///
    /// - Throws: ``HTTPError/Code/deadlineExceeded`` or ``HTTPError/Code/timeout``, as not sent, when the time is over, even if the work
    ///   has succeeded; what the work throws.
    public func withinTimeLeft<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard position.due != .max else { return try await work() }
        return try await position.withinTimeLeft(phase: .notSent) { _ in try await work() }
    }

    /// Does what lies further in within limits that an interceptor has set behind the arbiter.
    ///
    /// - Parameters:
    ///   - request: A request with ``HTTPRequest/hasLateLimits``.
    ///   - work: Given the request with its limits marked as kept, and the rest of the pipeline within them.
    /// - Throws: What the work throws. An error of the library's has the request, in which the arbiter finds the limits.
    func within(
        limitsOf request: HTTPRequest, _ work: (HTTPRequest, Self) async throws -> HTTPResponse
    ) async throws -> HTTPResponse {
        let (limits, kept) = (request.limits, request.context.keptLimits)
        position.noteDeadline(of: request)
        var request = request
        request.markLimitsKept()
        guard let call else { return try await work(request, self) }
        var next = self
        if limits.timeout != kept.timeout { next.position.timeout = call.due(in: limits.timeout ?? call.owner.limits.timeout) }
        if limits.deadline != kept.deadline { next.position.limit(deadline: limits.deadline) }
        do {
            return try await work(request, next)
        } catch var error as HTTPError where error.request == nil {
            error.request = request
            throw error
        }
    }
}
