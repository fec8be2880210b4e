#if Curl && os(Linux)
    internal import CCurl

    /// What a handle is in use for, as far as curl's callbacks know it.
    ///
    /// Touched only on the thread of the handle's loop.
    protocol HandleUser: AnyObject {
        /// Takes a line of a head or a trailer; false stops the transfer.
        func receive(line: UnsafeRawBufferPointer) -> Bool
        /// Takes a piece of the body; returns what curl is to be told.
        func receive(_ bytes: UnsafeRawBufferPointer) -> Int
        /// Gives curl more of the request's body; returns what curl is to be told.
        func send(into buffer: UnsafeMutableRawBufferPointer) -> Int
        /// The fields after the request's body, a line for each.
        func trailerLines() -> [String]
        /// Called when a connection stands and the request is about to be sent; false stops it.
        func willSend(over ends: ConnectionEnds, localPort: Int32) -> Bool
    }

    /// What curl calls during a transfer; the context is the ``EasyHandle``.
    enum HandleCallbacks {
        static func install(on handle: EasyHandle) {
            let context = handle.context
            handle.set(CURLOPT_HEADERDATA, pointer: context)
            handle.set(CURLOPT_WRITEDATA, pointer: context)
            handle.set(CURLOPT_READDATA, pointer: context)
            handle.set(CURLOPT_PREREQDATA, pointer: context)
            _ = ccurl_set_data_function(handle.curl, CURLOPT_HEADERFUNCTION) { data, size, count, context in
                let line = UnsafeRawBufferPointer(start: data, count: size * count)
                guard let user = HandleCallbacks.user(context), user.receive(line: line) else { return 0 }
                return line.count
            }
            _ = ccurl_set_data_function(handle.curl, CURLOPT_WRITEFUNCTION) { data, size, count, context in
                guard let user = HandleCallbacks.user(context) else { return 0 }
                return user.receive(UnsafeRawBufferPointer(start: data, count: size * count))
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

        /// Has the fields after a body of unknown length asked for at its end.
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

        private static func user(_ context: UnsafeMutableRawPointer?) -> (any HandleUser)? {
            context.flatMap { Unmanaged<EasyHandle>.fromOpaque($0).takeUnretainedValue().user }
        }
    }
#endif
