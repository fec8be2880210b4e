#if os(Linux)
    internal import CCurl
    internal import MidstreamLoop

    /// What a transfer needs of a loop that uses curl. All but ``options`` is touched only on the loop's thread.
    protocol CurlTransferLoop: TransferLoop {
        /// What the connections are made with.
        var options: ConnectionOptions { get }
        /// Has curl tell the loop of the sockets that it opens and closes for a handle.
        func watchSockets(of handle: EasyHandle)
        /// Notes that curl has opened a socket for a connection.
        func opened(_ descriptor: Int32)
        /// Notes that a transfer is about to use a connection. False when it was a kept one that can't be: curl tries the next one then.
        func takeConnection(for transfer: CurlTransfer, isNew: Bool, localPort: Int32, ends: ConnectionEnds) -> Bool
        /// Has curl act on a connection after the present event, as if there were something to read.
        func lookSoon(at descriptor: Int32)
    }

    extension CurlTransferLoop {
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

    extension EasyHandle {
        /// The transfer that it is in use for.
        var transfer: CurlTransfer? {
            // Nothing else is ever a handle's user.
            get { user.map { unsafeDowncast($0, to: CurlTransfer.self) } }
            set { user = newValue }
        }
    }
#endif
