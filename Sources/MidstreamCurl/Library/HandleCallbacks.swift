#if os(Linux)
    internal import CCurl

    /// The receiver of curl's callbacks for a handle.
    ///
    /// Touched only on the thread of the handle's loop.
    protocol HandleUser: AnyObject {
        /// Called when the handle's ``EasyHandle/response`` holds a whole head; false stops the transfer.
        func receiveHead() -> Bool
        /// Called when a head gets too large; stops the transfer.
        func refuseHead()
        /// Takes a line of the trailers, or the empty one after them; false stops the transfer.
        func receive(trailer line: UnsafeRawBufferPointer) -> Bool
        /// Takes a piece of the body that doesn't go into ``EasyHandle/response``; returns curl's result.
        func receive(_ bytes: UnsafeRawBufferPointer) -> Int
        /// Fills a buffer with more of the request's body; returns curl's result.
        func send(into buffer: UnsafeMutableRawBufferPointer) -> Int
        /// The fields after the request's body, a line that ends with 0 for each.
        func trailerLines() -> [[CChar]]
        /// Called when a connection stands and the request is about to be sent; false stops it.
        func willSend(over ends: ConnectionEnds, localPort: Int32) -> Bool
        /// Called now and then after ``HandleCallbacks/installLook(on:)`` while the connection is the transfer's; for the last time when the
        /// transfer has ended and the connection hasn't been closed.
        func lookAtConnection()
    }

    /// Curl's callbacks during a transfer. The context is the ``EasyHandle``, or its ``ResponseBuffer`` for lines and pieces.
    enum HandleCallbacks {
        static func install(on handle: EasyHandle) {
            let context = handle.context
            handle.set(CURLOPT_HEADERDATA, pointer: handle.response)
            handle.set(CURLOPT_WRITEDATA, pointer: handle.response)
            handle.set(CURLOPT_READDATA, pointer: context)
            handle.set(CURLOPT_PREREQDATA, pointer: context)
            _ = ccurl_set_data_function(handle.curl, CURLOPT_HEADERFUNCTION) { data, size, count, context in
                guard let data, let response = context?.assumingMemoryBound(to: ResponseBuffer.self) else { return 0 }
                let count = size * count
                return HandleCallbacks.take(line: UnsafeRawBufferPointer(start: data, count: count), response) ? count : 0
            }
            _ = ccurl_set_data_function(handle.curl, CURLOPT_WRITEFUNCTION) { data, size, count, context in
                guard let data, let response = context?.assumingMemoryBound(to: ResponseBuffer.self) else { return 0 }
                let count = size * count
                if response.pointee.append(body: data, count) { return count }
                guard let user = response.pointee.handle.user else { return 0 }
                return user.receive(UnsafeRawBufferPointer(start: data, count: count))
            }
            _ = ccurl_set_data_function(handle.curl, CURLOPT_READFUNCTION) { data, size, count, context in
                guard let user = HandleCallbacks.user(context) else { return ccurl_abort_reading() }
                return user.send(into: UnsafeMutableRawBufferPointer(start: data, count: size * count))
            }
            _ = ccurl_set_prerequest_function(handle.curl) { context, remote, local, remotePort, localPort in
                guard let user = HandleCallbacks.user(context) else { return CURL_PREREQFUNC_ABORT }
                let ends = ConnectionEnds(remote, remotePort, local, localPort)
                return user.willSend(over: ends, localPort: localPort) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
            }
        }

        /// Sends the user's trailers after a body of unknown length.
        static func installTrailers(on handle: EasyHandle) {
            handle.set(CURLOPT_TRAILERDATA, pointer: handle.context)
            _ = ccurl_set_trailer_function(handle.curl) { list, context in
                guard let list, let lines = HandleCallbacks.user(context)?.trailerLines() else { return CURL_TRAILERFUNC_OK }
                for line in lines {
                    guard let longer = curl_slist_append(list.pointee, line) else { return CURL_TRAILERFUNC_ABORT }
                    list.pointee = longer
                }
                return CURL_TRAILERFUNC_OK
            }
        }

        /// Calls the user's ``HandleUser/lookAtConnection()`` from now on, in this transfer alone.
        static func installLook(on handle: EasyHandle) {
            handle.spoil()
            handle.set(CURLOPT_XFERINFODATA, pointer: handle.context)
            _ = ccurl_set_progress_function(handle.curl) { context, _, _, _, _ in
                HandleCallbacks.user(context)?.lookAtConnection()
                return 0
            }
            handle.set(CURLOPT_NOPROGRESS, 0)
        }

        /// Takes a line of a head or of trailers; false stops the transfer.
        @inline(__always)
        static func take(line: UnsafeRawBufferPointer, _ response: UnsafeMutablePointer<ResponseBuffer>) -> Bool {
            guard let first = line.first, let start = line.baseAddress else { return true }
            guard response.pointee.isTakingHead else { return response.pointee.handle.user?.receive(trailer: line) ?? false }
            let isStatusLine = response.pointee.head.isEmpty
            guard response.pointee.append(line: start, line.count) else {
                response.pointee.handle.user?.refuseHead()
                return false
            }
            // An empty line ends the head.
            guard !isStatusLine, first == UInt8(ascii: "\r") || first == UInt8(ascii: "\n") else { return true }
            return response.pointee.handle.user?.receiveHead() ?? false
        }

        private static func user(_ context: UnsafeMutableRawPointer?) -> (any HandleUser)? {
            context.flatMap { Unmanaged<EasyHandle>.fromOpaque($0).takeUnretainedValue().user }
        }
    }
#endif
