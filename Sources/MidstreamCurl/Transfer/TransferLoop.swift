#if Curl && os(Linux)
    internal import CCurl

    /// What a transfer needs of the loop that drives it.
    ///
    /// All but ``options``, ``isCurrent``, ``post(_:)`` and ``drive(_:)`` is touched only on the loop's thread.
    protocol TransferLoop: AnyObject, Sendable {
        /// What the connections are made with.
        var options: ConnectionOptions { get }
        /// Where the time is at which the last wait for sockets ended, in nanoseconds of the monotonic clock.
        var clock: UnsafeMutablePointer<UInt64> { get }
        /// What decoding may take of the loop's time, and where it puts what it makes.
        var decoding: DecodingRoom { get }

        /// Whether the present thread drives the loop: what "on the loop's thread" means.
        var isCurrent: Bool { get }

        /// Has the loop do something. False when it has ended, and won't.
        @discardableResult
        func post(_ operation: LoopOperation) -> Bool
        /// Carries out a transfer on the caller's thread, if the loop's rests; false when the transfer is to be posted.
        func drive(_ transfer: Transfer) -> Bool
        /// Has curl tell the loop of the sockets that it opens and closes for a handle.
        func watchSockets(of handle: EasyHandle)
        /// Has the transfer settle once curl has been left.
        func settleLater(_ transfer: Transfer)
        /// Has the deadlines looked at in time for this transfer's.
        func expectDeadline(of transfer: Transfer)
        /// Notes that a transfer is about to use a connection. False when it was a kept one that can't be: curl tries the next one then.
        func takeConnection(for transfer: Transfer, isNew: Bool, localPort: Int32, ends: ConnectionEnds) -> Bool
        /// Notes that the transfer's host speaks HTTP/2, so that its requests share connections.
        func shareConnections(of transfer: Transfer)
    }

    extension TransferLoop {
        /// The time at which the last wait for sockets ended: exact enough for deadlines, and cheaper than asking each time.
        var now: UInt64 { clock.pointee }

        /// Sets those options of a handle without any that are the same for all requests of a shape.
        func setUp(_ handle: EasyHandle, for shape: Shape) {
            options.apply(to: handle)
            HandleCallbacks.install(on: handle)
            watchSockets(of: handle)
            options.apply(to: handle, isSecure: shape.isSecure)
            handle.set(CURLOPT_BUFFERSIZE, shape.isStreamed ? ReceiveBuffer.streamed : ReceiveBuffer.buffered)
        }
    }

    /// How many bytes curl receives at a time.
    private enum ReceiveBuffer {
        /// Large enough that a long body costs few system calls.
        static let streamed = 128 << 10
        /// Small enough that many requests at a time cost little memory. A handle that serves once allocates it for each of them,
        /// for which curl's own 16 KiB are cheaper.
        static let buffered = HandleReuse.isSafe ? 64 << 10 : 16 << 10
    }

    /// What can be asked of a loop.
    enum LoopOperation {
        case start(Transfer)
        case cancel(Transfer)
        case resumeReceiving(Transfer)
        case resumeSending(Transfer)
        case fail(Transfer, any Error)
        case job(UnownedJob)
    }

    /// Where a transfer is with regard to the limits of connections; with the key of its host.
    enum AdmissionState: Equatable {
        case none
        /// It waits for its host.
        case waiting(Int)
        /// It waits for any of all connections.
        case inLine(Int)
        case inside(Int)
        case left

        var isWaiting: Bool {
            switch self {
            case .waiting, .inLine: true
            case .none, .inside, .left: false
            }
        }
    }

    extension EasyHandle {
        /// The transfer that it is in use for.
        var transfer: Transfer? {
            // Nothing else is ever a handle's user.
            get { user.map { unsafeDowncast($0, to: Transfer.self) } }
            set { user = newValue }
        }
    }
#endif
