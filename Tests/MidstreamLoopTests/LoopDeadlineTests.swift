#if os(Linux)
    import Glibc
    import MidstreamCore
    import MidstreamTransport
    import TestSupport
    import Testing

    @testable import MidstreamLoop

    /// Who is late where more sockets are ready than one wait tells of.
    @Suite(.leavesNothing) struct LoopDeadlineTests {
        /// Never run: the test drives it. Each of its transfers has a descriptor that is ready.
        private final class Loop: EventLoop, @unchecked Sendable {
            private var transfers: [Int32: Transfer] = [:]
            /// Whether a transfer ends when its descriptor is told of.
            private let endsTransfers: Bool
            private(set) var late = 0

            init(endsTransfers: Bool) {
                self.endsTransfers = endsTransfers
                var configuration = TransportConfiguration()
                configuration.headTimeout = .nanoseconds(1)
                super.init(
                    "deadlines", Poller(), limits: TransferLimits(configuration, forwardsPlainRequests: false),
                    admission: Admission(hostLimit: 0, totalLimit: 0), usesCallersThreads: false)
            }

            func begin(on descriptor: Int32) {
                let transfer = Transfer(HTTPRequest("http://a/"), ExchangeOptions(), loop: self, owner: self)
                transfers[descriptor] = transfer
                let isWatched = poller.add(descriptor, for: .reading)
                #expect(isWatched)
                start(transfer)
            }

            func look() {
                poller.wait(until: 0)
                takeEvents()
            }

            override func handle(_ descriptor: Int32, _ readiness: Readiness) {
                guard endsTransfers, let transfer = transfers.removeValue(forKey: descriptor) else { return }
                poller.remove(descriptor)
                finish(transfer, CancellationError(), isClean: true)
            }

            override func distrustConnection(of transfer: Transfer) { late += 1 }

            override func tearDown() { transfers = [:] }
        }

        /// Has a loop drive 300 transfers whose time is over.
        private func drive(_ loop: Loop, _ body: () -> Void) {
            var ends: [Int32] = [-1, -1]
            let status = pipe(&ends)
            let written = write(ends[1], "a", 1)
            #expect(status == 0 && written == 1)
            let descriptors = (0..<300).map { _ in dup(ends[0]) }
            loop.beginDriving()
            for descriptor in descriptors { loop.begin(on: descriptor) }
            body()
            loop.endDriving()
            loop.tearDown()
            for descriptor in descriptors + ends { close(descriptor) }
        }

        @Test func `Nobody is late before all sockets have been told of`() {
            let loop = Loop(endsTransfers: true)
            drive(loop) {
                loop.look()
                #expect(loop.active.count == 44)
                loop.look()
                #expect(loop.active.isEmpty && loop.late == 0)
            }
        }

        @Test func `Where more are always ready they are late all the same`() {
            let loop = Loop(endsTransfers: false)
            drive(loop) {
                for _ in 0..<100 where loop.late == 0 { loop.look() }
                #expect(loop.late == 300)
            }
        }

        /// One look at all of them took as long as the time to the next that was late.
        @Test func `Where thousands wait one look ends many of them`() {
            let loop = EventLoop(
                "deadlines", Poller(), limits: TransferLimits(TransportConfiguration(), forwardsPlainRequests: false),
                admission: Admission(hostLimit: 1, totalLimit: 0), usesCallersThreads: false)
            loop.beginDriving()
            let transfers = (0...5_000).map { _ in
                Transfer(HTTPRequest("http://a/"), ExchangeOptions(), loop: loop, owner: loop)
            }
            let began = loop.now
            // The first is under way, and one of the others is late in each millisecond.
            for (number, transfer) in transfers.enumerated() {
                if number > 0 { transfer.timeLimit = began + UInt64(number) * 1_000_000 }
                loop.start(transfer)
            }
            var looks = 0
            for _ in 0..<100 {
                loop.clock.pointee += 1_000_000
                // One that begins may have waited for almost all of its time.
                loop.expectDeadline(of: transfers[1])
                if loop.nextDeadlineCheck <= loop.now { looks += 1 }
                loop.checkDeadlines()
            }
            #expect(looks <= 20)
            #expect((4_900...4_925).contains(loop.admission.waitingCount))
            // Those that have been late need no further look.
            loop.clock.pointee += 5_000_000_000
            loop.checkDeadlines()
            #expect(loop.admission.waitingCount == 0 && loop.nextDeadlineCheck == .max)
            loop.abort(transfers[0], CancellationError())
            #expect(loop.active.isEmpty)
            loop.endDriving()
        }
    }
#endif
