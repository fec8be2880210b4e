public import Interception

/// How long a call may take, and whether that time is over.
package final class CallDeadline: Sendable {
    private struct State {
        var isPast = false
        /// Whether an interceptor has been told, and so may have answered in place of the server.
        var isTold = false
    }

    /// From the call's start; nil: as long as it likes.
    package let duration: Duration?
    /// The nanoseconds of the call's stopwatch at which it is over; the largest number: never.
    package let due: Int64
    /// That of the call, or of the part of it, that this one is a part of.
    private let enclosing: CallDeadline?
    private let state = Locked(State())

    /// None, for the many calls without one.
    package static let unlimited = CallDeadline(nil, within: nil)

    package init(_ duration: Duration?, within enclosing: CallDeadline?) {
        self.duration = duration
        due = duration.map { max(.zero, $0).wholeNanoseconds } ?? .max
        self.enclosing = enclosing
    }

    /// The deadline of a call that is made as a part of another one, or of none.
    package static func of(_ duration: Duration?, within enclosing: CallDeadline?) -> CallDeadline {
        guard duration == nil, enclosing === unlimited || enclosing == nil else {
            return CallDeadline(duration, within: enclosing)
        }
        return unlimited
    }

    /// Whether the work was cancelled because of this deadline or one that encloses it, and not by its user.
    package var isPast: Bool { isPastItself || enclosing?.isPast ?? false }

    /// The same, of this deadline alone.
    package var isPastItself: Bool { duration != nil && state.withLock { $0.isPast } }

    /// What to throw in place of a cancellation: the deadline, if that was the reason.
    package func reason(for cancellation: CancellationError) -> any Error {
        guard isPastItself, let duration else { return cancellation }
        state.withLock { $0.isTold = true }
        return HTTPError.pastDeadline(duration)
    }

    /// Runs work and cancels it when the time is over.
    ///
    /// What the work then comes to counts only if somebody in it was told of the deadline by ``reason(for:)``, and so could act on it.
    ///
    /// - Parameter stopwatch: The call's.
    package func limit<Value: Sendable>(
        _ stopwatch: Stopwatch, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let duration else { return try await work() }
        try checkBeforehand(stopwatch)
        let ending = await TimedWork.run(until: duration, of: stopwatch, onLate: { self.pass() }, work)
        guard ending.isLate else { return try ending.result.get() }
        if isTold {
            switch ending.result {
            case .success(let value): return value
            case .failure(let error) where !(error is CancellationError): throw error
            case .failure: break
            }
        }
        throw HTTPError.pastDeadline(duration)
    }

    /// - Throws: ``HTTPError/Code/deadlineExceeded`` when the time is over already.
    package func checkBeforehand(_ stopwatch: Stopwatch) throws {
        guard let duration, due <= stopwatch.elapsedNanoseconds else { return }
        pass()
        throw HTTPError.pastDeadline(duration)
    }

    /// Says that the time is over. Before anybody is cancelled, so that whoever is finds the reason.
    package func pass() { state.withLock { $0.isPast = true } }

    private var isTold: Bool { state.withLock { $0.isTold } }
}

extension Next where Input == HTTPRequest, Output == HTTPResponse {
    /// Whether what this interceptor waited for was cancelled since the call's deadline has passed, and not by the call's user.
    ///
    /// At ``InterceptorStage/call`` a deadline arrives as ``HTTPError/Code/deadlineExceeded``. Further in it arrives as the
    /// `CancellationError` that it causes, and this tells the two apart:
    ///
    /// ```swift
    /// } catch is CancellationError where next.isPastDeadline {
    ///     statistics.countSlow()      // nobody gave up: the server took too long
    /// }
    /// ```
    ///
    /// True also for the deadline of a call within which this one is made. Pass the error on in either case.
    public var isPastDeadline: Bool { call?.deadline.isPast ?? false }

    /// How much time what lies further in has: until the attempt's timeout or the call's deadline, whichever comes first. Zero or less
    /// when it is over, nil when there is no limit.
    public var timeLeft: Duration? {
        guard let call else { return nil }
        // Without a limit, nor a look at the clock.
        guard call.deadline.duration != nil else { return position.timeLeft }
        let due = min(call.deadline.due, position.due)
        return due < Duration.longestNanoseconds ? .nanoseconds(due - call.stopwatch.elapsedNanoseconds) : nil
    }
}

extension HTTPRequest {
    /// Whether the call that is at work in the present task was cancelled since its deadline has passed, and not by its user; for
    /// interceptors without a ``Next``. False outside a call and in a detached task. See
    /// ``Next/isPastDeadline``.
    public var isPastDeadline: Bool { ChainPosition.current?.call?.deadline.isPast ?? false }
}
