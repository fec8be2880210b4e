#if os(Linux)
    import Glibc
    internal import MidstreamLoop

    /// A server that stays silent is taken for gone.
    extension HTTP2Connection: Sleeper {
        func ping(answeredWithin limit: UInt64) {
            guard !isPinging else { return }
            isPinging = true
            answerLimit = limit
            session?.ping()
            expectAnswer()
        }

        private func expectAnswer() {
            hasGoneOn = false
            loop.wake(self, at: loop.now + answerLimit)
        }

        func endPing() {
            guard isPinging else { return }
            isPinging = false
            loop.letSleep(self)
        }

        func isWoken() {
            // Of little room the system doesn't tell.
            channel.expectsSomething()
            flush()
            guard isPinging else { return }
            // The PING may wait behind what is still on its way to the server, which takes it: the path isn't forgotten.
            hasGoneOn ? expectAnswer() : lose(.system(ETIMEDOUT))
        }
    }
#endif
