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
            pingEnd = channel.transmitted + unsent
            expectAnswer()
        }

        private func expectAnswer() {
            acknowledged = channel.acknowledged
            loop.wake(self, at: loop.now + answerLimit)
        }

        func endPing() {
            guard isPinging else { return }
            isPinging = false
            loop.letSleep(self)
        }

        func isWoken() {
            guard isPinging else { return }
            // What the PING has to wait behind may take long, and its time begins when that has arrived.
            let isOnItsWay = acknowledged < pingEnd && channel.acknowledged > acknowledged
            isOnItsWay ? expectAnswer() : lose(.system(ETIMEDOUT))
        }
    }
#endif
