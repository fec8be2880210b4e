#if os(Linux)
    /// Transfers that wait go over to another loop that has room: see ``WaitingCounts``.
    extension EventLoop {
        /// Starts those that may begin after one to a host, and has others come over if there is still room.
        final func startNext(_ transfers: [Transfer], afterOneOf key: @autoclosure () -> Int) {
            startSoon(transfers)
            guard let counts = admission.counts, counts.isAnyUnclaimed else { return }
            for wanted in admission.wantedPlaces(afterOneOf: key()) { takeOver(wanted) }
        }

        /// Starts transfers after the present operation.
        private func startSoon(_ transfers: [Transfer]) {
            for transfer in transfers { post(.start(transfer)) }
        }

        /// Keeps places for those that wait on other loops, as long as there are any, and asks for them.
        package final func takeOver(_ wanted: WantedPlace) {
            assert(isCurrent)
            guard let counts = admission.counts else { return }
            while counts.isAnyUnclaimed, admission.reserve(wanted) {
                guard let home = counts.claim(wanted, for: self) else { return startSoon(admission.giveBack(wanted)) }
                // Where it has ended, this one is about to.
                home.post(
                    .run { [self] in
                        guard !home.handOver(wanted, to: self) else { return }
                        post(.run { [self] in startNext(admission.giveBack(wanted), afterOneOf: wanted.host) })
                    })
            }
        }

        package final func handOver(_ wanted: WantedPlace, to loop: any TransferLoop) -> Bool {
            assert(isCurrent)
            guard let transfer = admission.handOver(wanted) else { return false }
            showLoad()
            transfer.move(to: loop)
            if !loop.post(.start(transfer)) { transfer.complete(transfer.closedError()) }
            return true
        }

        /// Cancels a transfer of this loop, or of the one that it has gone over to.
        final func cancel(_ transfer: Transfer) {
            assert(isCurrent)
            if transfer.loop === self { abort(transfer, CancellationError()) } else { transfer.loop.post(.cancel(transfer)) }
        }
    }
#endif
