#if os(Linux)
    internal import CCurl
    import Glibc
    internal import MidstreamLoop

    /// What curl calls when it opens, closes and watches sockets and sets its timer; the context is the loop.
    enum SocketCallbacks {
        static func install(on multi: UnsafeMutableRawPointer, loop: CurlLoop) {
            let context = Unmanaged.passUnretained(loop).toOpaque()
            _ = ccurl_multi_set_pointer(multi, CURLMOPT_SOCKETDATA, context)
            _ = ccurl_multi_set_pointer(multi, CURLMOPT_TIMERDATA, context)
            _ = ccurl_multi_set_socket_function(multi) { _, descriptor, what, context, _ in
                guard let loop = SocketCallbacks.loop(context) else { return 0 }
                var readiness: Readiness = []
                if what != CURL_POLL_REMOVE {
                    if what & CURL_POLL_IN != 0 { readiness.insert(.reading) }
                    if what & CURL_POLL_OUT != 0 { readiness.insert(.writing) }
                }
                loop.sockets.want(descriptor, readiness)
                return 0
            }
            _ = ccurl_multi_set_timer_function(multi) { _, milliseconds, context in
                guard let loop = SocketCallbacks.loop(context) else { return 0 }
                switch milliseconds {
                case ..<0: loop.timer = nil
                case 0: loop.timer = 0
                default: loop.timer = MonotonicTime.now() + UInt64(milliseconds) * 1_000_000
                }
                return 0
            }
        }

        fileprivate static func install(on handle: EasyHandle, loop: CurlLoop) {
            let context = Unmanaged.passUnretained(loop).toOpaque()
            handle.set(CURLOPT_OPENSOCKETDATA, pointer: handle.context)
            handle.set(CURLOPT_CLOSESOCKETDATA, pointer: context)
            _ = ccurl_set_open_function(handle.curl) { context, _, address in
                guard let address, let context,
                    let transfer = Unmanaged<EasyHandle>.fromOpaque(context).takeUnretainedValue().transfer,
                    transfer.mayConnect(to: address)
                else { return CURL_SOCKET_BAD }
                let descriptor = ccurl_socket(
                    address.pointee.family, address.pointee.socktype, address.pointee.protocol)
                if descriptor >= 0 { transfer.curlLoop.opened(descriptor) }
                return descriptor
            }
            _ = ccurl_set_close_function(handle.curl) { context, descriptor in
                let loop = SocketCallbacks.loop(context)
                loop?.sockets.closing(descriptor)
                return loop?.floods?.close(descriptor) ?? Glibc.close(descriptor)
            }
        }

        private static func loop(_ context: UnsafeMutableRawPointer?) -> CurlLoop? {
            let loop = context.map { Unmanaged<CurlLoop>.fromOpaque($0).takeUnretainedValue() }
            assert(loop?.isCurrent != false)
            return loop
        }
    }

    extension CurlLoop {
        func watchSockets(of handle: EasyHandle) { SocketCallbacks.install(on: handle, loop: self) }

        func opened(_ descriptor: Int32) {
            assert(isCurrent)
            sockets.opened(descriptor)
            floods?.opened(descriptor)
        }

        func takeConnection(for transfer: CurlTransfer, isNew: Bool, localPort: Int32, ends: ConnectionEnds) -> Bool {
            let (descriptor, isUsable) = sockets.kept.take(
                for: ObjectIdentifier(transfer), isNew: isNew, localPort: localPort, ends: ends)
            transfer.descriptor = descriptor
            if let descriptor, !isUsable { sockets.bury(descriptor) }
            return isUsable
        }
    }
#endif
