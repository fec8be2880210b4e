#if os(Linux)
    import Glibc

    extension Channel {
        /// What became of bytes of a file.
        enum FileSending {
            case sent(Int)
            case wait
            /// The file has no such bytes any more.
            case ended
            /// The file can't be read, for the system's reason.
            case unreadable(Int32)
            case failed
        }

        /// Has the system send bytes of a file, which it can where there is no TLS.
        func send(_ count: Int, of file: Int32, from place: Int64) -> FileSending {
            assert(plainSocket != nil)
            var place = Int(place)
            while canWrite {
                let sent = withoutBrokenPipe { sendfile(descriptor, file, &place, count) }
                // What has ended it early isn't told: that nothing more is taken now, or a reset.
                if sent >= 0 { mayHideReset = sent < count }
                if sent > 0 { return .sent(sent) }
                if sent == 0 { return .ended }
                switch errno {
                case EAGAIN: (canWrite, mayHideReset) = (false, false)
                case EINTR: break
                case EIO, ESTALE, EINVAL, EISDIR, EOVERFLOW: return .unreadable(errno)
                default:
                    noteSendingFailure(errno)
                    return .failed
                }
            }
            return .wait
        }

        /// Whether the system has closed the connection, as after a reset; while only the other side has ended, it waits for this one's end.
        var isClosedBySystem: Bool {
            var (information, size) = (tcp_info(), socklen_t(MemoryLayout<tcp_info>.size))
            return getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_INFO, &information, &size) == 0
                && information.tcpi_state == UInt8(TCP_CLOSE)
        }

        /// Keeps the signal of a connection that takes nothing any more from the process, since `sendfile` can't be told to, nor the thread,
        /// which may be a caller's: a signal that was caused here is taken back here.
        private func withoutBrokenPipe(_ body: () -> Int) -> Int {
            var (signal, before, pending) = (sigset_t(), sigset_t(), sigset_t())
            sigemptyset(&signal)
            sigaddset(&signal, SIGPIPE)
            sigpending(&pending)
            pthread_sigmask(SIG_BLOCK, &signal, &before)
            let result = body()
            let number = errno
            // Whatever the result: some of the bytes may have been taken before.
            if sigismember(&pending, SIGPIPE) == 0 {
                var atOnce = timespec()
                sigtimedwait(&signal, nil, &atOnce)
            }
            pthread_sigmask(SIG_SETMASK, &before, nil)
            errno = number
            return result
        }
    }
#endif
