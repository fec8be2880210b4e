#if os(Linux)
    package import Interception
    package import MidstreamTransport

    /// What a transfer needs of the loop that drives it.
    ///
    /// All but ``limits``, ``isCurrent``, ``post(_:)`` and ``drive(_:)`` is touched only on the loop's thread.
    package protocol TransferLoop: AnyObject, Sendable {
        var limits: TransferLimits { get }
        /// Where the time is at which the last wait for sockets ended, or a long job since; in nanoseconds of the monotonic clock.
        var clock: UnsafeMutablePointer<UInt64> { get }
        /// What decoding may take of the loop's time, and where it puts what it makes.
        var decoding: DecodingRoom { get }

        /// The loop's thread as a place for tasks.
        var executor: CallersExecutor { get }
        /// Whether the present thread drives the loop: what "on the loop's thread" means.
        var isCurrent: Bool { get }

        /// Has the loop do something. False when it has ended, and won't.
        @discardableResult
        func post(_ operation: LoopOperation) -> Bool
        /// Carries out a transfer on the caller's thread, if the loop's rests; false when the transfer is to be posted.
        func drive(_ transfer: Transfer) -> Bool
        /// Has the transfer settle once the present event is dealt with.
        func settleLater(_ transfer: Transfer)
        /// Has the deadlines looked at in time for this transfer's.
        func expectDeadline(of transfer: Transfer)
        /// The transfer's host shares connections among its requests.
        func shareConnections(of transfer: Transfer)
        /// Has transfers that wait on other loops come over, as long as there is room for them.
        func takeOver(_ wanted: WantedPlace)
        /// Lets one that waits begin on another loop, which keeps a place for it; false when none does any more.
        func handOver(_ wanted: WantedPlace, to loop: any TransferLoop) -> Bool
    }

    extension TransferLoop {
        /// The time at which the last wait for sockets ended, or a long job since: exact enough for deadlines, and cheaper than asking each
        /// time.
        package var now: UInt64 { clock.pointee }
    }

    /// What a configuration allows every transfer.
    package struct TransferLimits: Sendable {
        /// How long it may take to the end of the response's head, in nanoseconds; nil: no limit.
        package let head: UInt64?
        /// How long no byte of a body may move, in nanoseconds; nil: no limit.
        package let idle: UInt64?
        /// How exactly these two are kept, in nanoseconds: a sixteenth of the shorter one.
        package let grain: UInt64
        /// How many times as large as encoded a buffered body may get; nil: no limit.
        package let decodedRatio: Int?
        /// Whether http requests share connections to a proxy whose number is limited elsewhere.
        package let forwardsPlainRequests: Bool

        package init(_ configuration: TransportConfiguration, forwardsPlainRequests: Bool) {
            head = configuration.headTimeout?.wholeNanoseconds
            idle = configuration.idleTimeout?.wholeNanoseconds
            grain = max(1_000_000, min(head ?? .max, idle ?? .max) / 16)
            decodedRatio = configuration.maximumDecodedRatio
            self.forwardsPlainRequests = forwardsPlainRequests
        }
    }

    /// What can be asked of a loop.
    package enum LoopOperation {
        case start(Transfer)
        case cancel(Transfer)
        case resumeReceiving(Transfer)
        case resumeSending(Transfer)
        case fail(Transfer, any Error)
        /// The reader of its body has waited for too long.
        case endLate(Transfer, any Error)
        case job(UnownedJob)
        /// Carried out in any case; given whether the loop has ended.
        case ask(@Sendable (_ isOver: Bool) -> Void)
        /// Dropped when the loop has ended.
        case run(@Sendable () -> Void)
    }
#endif
