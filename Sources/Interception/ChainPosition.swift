/// Where a run through a chain is. It travels in ``Next``, beside the input, so that inputs needn't know what they are part of.
@usableFromInline
package struct ChainPosition: Sendable {
    /// What the run belongs to, as whoever started it knows it.
    @usableFromInline package var run: (any AnyObject & Sendable)?
    /// The observer's number for the pass; -1 outside any.
    @usableFromInline package var pass: Int32
    /// Which of those speaks that the interceptor asks within its pass; -1: itself.
    @usableFromInline package var speaker: Int16 = -1
    /// Whether the run is only asked what it would do.
    @usableFromInline package var isRehearsal = false
    /// Whether the present task is cancelled at the deadline; nil: it may be, in a branch of a run whose task is.
    @usableFromInline package var isInterrupted: Bool? = false
    /// When the run has to be over, in nanoseconds of the clock that it goes by; the largest number: no limit.
    @usableFromInline package var deadline: Int64
    /// When the present try has to be over.
    @usableFromInline package var timeout: Int64

    @inlinable
    package init(run: (any AnyObject & Sendable)? = nil, pass: Int32 = -1, timeout: Int64 = .max) {
        self.run = run
        self.pass = pass
        deadline = .max
        self.timeout = timeout
    }

    /// When what lies further in has to be over: the earlier of the two.
    @inlinable package var due: Int64 { min(deadline, timeout) }

    /// The same for work that others wait for as well, in a task of its own: the deadline of the run that began it doesn't end it.
    @inlinable package var withoutDeadline: ChainPosition {
        var position = self
        position.deadline = .max
        position.isInterrupted = false
        return position
    }

    /// The position of the present task, for code that is called by an interceptor and handed no ``Next``.
    ///
    /// Set for the whole of a run, and in an observed chain for each pass, so that it is right when several passes are under way at
    /// once; child tasks have it, detached ones don't.
    package static var current: ChainPosition? { local.get() }

    /// What ``current`` reads. Written out, since the macro's could not be inlined into other modules.
    @usableFromInline package static let local = TaskLocal<ChainPosition?>(wrappedValue: nil)
}
