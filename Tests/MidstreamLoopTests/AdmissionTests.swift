#if os(Linux)
    import MidstreamCore
    import MidstreamTransport
    import TestSupport
    import Testing

    @testable import MidstreamLoop

    /// Who may have a connection where some hosts share theirs.
    @Suite(.leavesNothing) struct AdmissionTests {
        /// Never run.
        private let loop = EventLoop(
            "admission", Poller(), limits: TransferLimits(TransportConfiguration(), forwardsPlainRequests: false),
            admission: Admission(hostLimit: 0, totalLimit: 0), usesCallersThreads: false)

        private func transfer(_ url: String) -> Transfer {
            Transfer(HTTPRequest(url), ExchangeOptions(), loop: loop, owner: loop)
        }

        private struct Writer: ByteWriter {
            nonisolated(nonsending) func write(_ bytes: [UInt8]) async throws {}
        }

        private func socket(_ url: String) -> Transfer {
            let upgrade = transfer(url)
            upgrade.writer = Writer()
            return upgrade
        }

        @Test func `Where connections are shared nobody stands in line any more`() {
            var admission = Admission(hostLimit: 8, totalLimit: 3)
            let (first, second, other) = (transfer("http://a/"), transfer("http://a/"), transfer("http://b/"))
            let (otherInLine, inLine) = (transfer("http://b/"), transfer("http://a/"))
            let areIn = [first, second, other, otherInLine, inLine].map { admission.enter($0) }
            #expect(areIn == [true, true, true, false, false])
            let begun = admission.share(first)
            // The first two have one place now.
            #expect(begun.count == 2 && begun.contains { $0 === inLine } && begun.contains { $0 === otherInLine })
            #expect(admission.waitingCount == 0)
        }

        @Test func `Each address of a name is a host by itself`() {
            var admission = Admission(hostLimit: 1, totalLimit: 0)
            let transfers = ([nil, "10.0.0.1", "10.0.0.2", "10.0.0.1"] as [String?]).map { address in
                var request = HTTPRequest("http://a/")
                request.address = address
                return Transfer(request, ExchangeOptions(), loop: loop, owner: loop)
            }
            let areIn = transfers.map { admission.enter($0) }
            #expect(areIn == [true, true, true, false])
        }

        @Test func `A host that shares connections has one place as long as it has transfers`() {
            var admission = Admission(hostLimit: 8, totalLimit: 1)
            let (first, second) = (transfer("http://a/"), transfer("http://a/"))
            let others = ["http://b/", "http://c/", "http://b/"].map(transfer)
            var areIn = [admission.enter(first)]
            let atOnce = admission.share(first)
            areIn += ([second] + others).map { admission.enter($0) }
            #expect(areIn == [true, true, false, false, false])
            let afterFirst = admission.leave(first)
            let afterSecond = admission.leave(second)
            #expect(atOnce.isEmpty && afterFirst.isEmpty)
            #expect(afterSecond.count == 1 && afterSecond.first === others[0])
            // It need not wait behind those to other hosts.
            let sharing = admission.share(others[0])
            #expect(sharing.count == 1 && sharing.first === others[2])
            let beforeLast = admission.leave(others[0])
            let last = admission.leave(others[2])
            #expect(beforeLast.isEmpty)
            #expect(last.count == 1 && last.first === others[1])
            #expect(admission.waitingCount == 0)
        }

        @Test func `Those in line for a host that shares connections begin together`() {
            var admission = Admission(hostLimit: 8, totalLimit: 1)
            let (known, busy) = (transfer("http://a/"), transfer("http://b/"))
            var areIn = [admission.enter(known)]
            _ = admission.share(known)
            _ = admission.leave(known)
            areIn += ([busy] + (0..<3).map { _ in transfer("http://a/") }).map { admission.enter($0) }
            #expect(areIn == [true, true, false, false, false])
            let begun = admission.leave(busy)
            #expect(begun.count == 3)
            #expect(admission.waitingCount == 0)
        }

        @Test func `What may come to carry another protocol keeps to the host's limit wherever connections are shared`() {
            var admission = Admission(hostLimit: 2, totalLimit: 0)
            let requests = (0..<3).map { _ in transfer("http://a/") }
            let sockets = (0..<4).map { _ in socket("http://a/") }
            var areIn = [requests[0], sockets[0], sockets[1], requests[1]].map { admission.enter($0) }
            let atOnce = admission.share(requests[0])
            // Requests need no place any more, so that there is one for another socket.
            #expect(atOnce.count == 2 && atOnce.contains { $0 === requests[1] } && atOnce.contains { $0 === sockets[1] })
            areIn += [sockets[2], sockets[3], requests[2]].map { admission.enter($0) }
            #expect(areIn == [true, true, false, false, false, false, true])
            let afterRequest = admission.leave(requests[0])
            let afterSocket = admission.leave(sockets[0])
            #expect(afterRequest.isEmpty)
            #expect(afterSocket.count == 1 && afterSocket.first === sockets[2])
            let isWaiting = admission.giveUp(sockets[3])
            #expect(isWaiting && admission.waitingCount == 0)
        }

        @Test func `What may come to carry another protocol has a place of its own among all`() {
            var admission = Admission(hostLimit: 8, totalLimit: 2)
            let requests = (0..<2).map { _ in transfer("http://a/") }
            let sockets = (0..<2).map { _ in socket("http://a/") }
            var areIn = [admission.enter(requests[0])]
            _ = admission.share(requests[0])
            areIn += [sockets[0], requests[1], sockets[1]].map { admission.enter($0) }
            #expect(areIn == [true, true, true, false])
            let afterFirst = admission.leave(requests[0])
            let afterSecond = admission.leave(requests[1])
            #expect(afterFirst.isEmpty)
            #expect(afterSecond.count == 1 && afterSecond.first === sockets[1])
            #expect(admission.waitingCount == 0)
        }

        @Test func `Where connections aren't shared any more each transfer counts`() {
            var admission = Admission(hostLimit: 2, totalLimit: 3)
            let sharing = (0..<4).map { _ in transfer("http://a/") }
            for each in sharing {
                let isIn = admission.enter(each)
                #expect(isIn)
                _ = admission.share(each)
            }
            _ = admission.unshare(sharing[0].hostKey, except: [])
            let (next, elsewhere) = (transfer("http://a/"), transfer("http://b/"))
            for each in [next, elsewhere] {
                let isIn = admission.enter(each)
                #expect(!isIn)
            }
            let begun = sharing.map { admission.leave($0) }
            #expect(begun.map(\.count) == [0, 1, 1, 0])
            #expect(begun[1].first === elsewhere && begun[2].first === next)
            #expect(admission.waitingCount == 0)
        }

        @Test func `Who waits again stands in line once`() {
            var admission = Admission(hostLimit: 8, totalLimit: 3)
            let (first, second, inLine, again) = (
                transfer("http://a/"), transfer("http://a/"), transfer("http://a/"), transfer("http://a/")
            )
            let (other, otherInLine) = (transfer("http://b/"), transfer("http://c/"))
            let areIn = [first, second, other, otherInLine, inLine, again].map { admission.enter($0) }
            #expect(areIn == [true, true, true, false, false, false])
            let sharing = admission.share(first)
            #expect(sharing.count == 3)
            _ = admission.leave(first)
            waitsAgain(again, &admission, behind: second)
        }

        /// Who shared a connection, and has to wait as the host shares no more, begins once when it does again.
        private func waitsAgain(_ again: Transfer, _ admission: inout Admission, behind first: Transfer) {
            _ = admission.unshare(first.hostKey, except: [])
            _ = admission.leave(again)
            again.admission = .none
            let isIn = admission.enter(again)
            #expect(!isIn)
            #expect(admission.waiting.count == 1)
            let begun = admission.share(first)
            #expect(begun.count == 1 && begun.first === again)
            #expect(admission.waitingCount == 0)
        }

        @Test func `Nor does who waits again for its host stand there twice`() {
            var admission = Admission(hostLimit: 2, totalLimit: 0)
            let (first, again) = (transfer("http://a/"), transfer("http://a/"))
            let sockets = (0..<2).map { _ in socket("http://a/") }
            let areIn = [first, sockets[0], sockets[1], again].map { admission.enter($0) }
            #expect(areIn == [true, true, false, false])
            let sharing = admission.share(first)
            #expect(sharing.count == 2)
            waitsAgain(again, &admission, behind: first)
        }

        @Test func `Those that go on over a shared connection take no place of others`() {
            var admission = Admission(hostLimit: 2, totalLimit: 3)
            let streams = (0..<4).map { _ in transfer("http://a/") }
            for each in streams {
                _ = admission.enter(each)
                _ = admission.share(each)
            }
            _ = admission.unshare(streams[0].hostKey, except: streams)
            for url in ["http://a/", "http://a/", "http://b/"] {
                let isIn = admission.enter(transfer(url))
                #expect(isIn)
            }
            let begun = streams.flatMap { admission.leave($0) }
            #expect(begun.isEmpty)
            #expect(admission.waitingCount == 0)
        }

        @Test func `The place that they give up is taken by the next in line`() {
            var admission = Admission(hostLimit: 2, totalLimit: 1)
            let (stream, other) = (transfer("http://a/"), transfer("http://b/"))
            _ = admission.enter(stream)
            _ = admission.share(stream)
            let isIn = admission.enter(other)
            #expect(!isIn)
            let begun = admission.unshare(stream.hostKey, except: [stream])
            #expect(begun.count == 1 && begun.first === other)
            #expect(admission.waitingCount == 0)
        }

        @Test func `Hosts that share connections are forgotten beyond some thousands, unless they have transfers`() {
            var admission = Admission(hostLimit: 1, totalLimit: 0)
            let busy = transfer("http://busy/")
            let brief = (0..<5_000).map { transfer("http://h\($0)/") }
            for each in [busy] + brief {
                let isIn = admission.enter(each)
                #expect(isIn)
                _ = admission.share(each)
                if each !== busy { _ = admission.leave(each) }
            }
            let isLimited = ["http://busy/", "http://h4999/", "http://h0/"].map { url in
                let areIn = (0..<2).map { _ in admission.enter(transfer(url)) }
                return areIn != [true, true]
            }
            #expect(isLimited == [false, false, true])
        }
    }
#endif
