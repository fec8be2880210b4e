#if os(Linux)
    internal import Interception
    internal import MidstreamCore
    internal import MidstreamLoop

    extension WireLoop {
        /// Has so many connections stand that no transfer has, as far as the limits allow. The answer comes once, when they stand or one
        /// can't be made.
        func prepare(_ route: Route, _ tls: TLSContext?, _ count: Int, _ answer: @escaping (HTTPError?) -> Void) {
            assert(isCurrent)
            let wanted = min(count, room(route))
            let mayBeShared = mayShare(route)
            let missing = wanted - pool.spareCount(route)
            // Whether they may share one is known when the first one stands.
            let isFirst = mayBeShared && pool.spareDials(route).isEmpty
            var new: [Dial] = []
            if missing > 0, !mayBeShared || isFirst {
                for _ in 0..<min(mayBeShared ? 1 : missing, max(0, freePlaces)) {
                    let dial = Dial(route, settings, tls: tls, mayBeShared: mayBeShared, loop: self)
                    pool.add(dial)
                    new.append(dial)
                }
            }
            let dials = pool.spareDials(route)
            guard wanted > 0, !dials.isEmpty else { return answer(nil) }
            var (rest, failure) = (dials.count, HTTPError?.none)
            for dial in dials {
                dial.observe { [unowned self] failed in
                    rest -= 1
                    if let failed { failure = failed }
                    guard rest == 0 else { return }
                    if failure == nil, mayBeShared, !mayShare(route) { return prepare(route, tls, count, answer) }
                    answer(failure)
                }
            }
            // It may end at once.
            for dial in new { dial.start() }
        }

        /// The same, from any task. When that is cancelled the dials go on.
        ///
        /// - Throws: ``HTTPError``; `CancellationError`.
        func prepare(_ route: Route, _ tls: TLSContext?, _ count: Int) async throws {
            let end = Suspension<HTTPError?>()
            ask { [self] isOver in
                guard !isOver else {
                    end.resume(HTTPError.transportClosed)
                    return
                }
                prepare(route, tls, count) { end.resume($0) }
            }
            guard case .value(let failure) = await end.wait() else { throw CancellationError() }
            if let failure { throw failure }
        }
    }
#endif
