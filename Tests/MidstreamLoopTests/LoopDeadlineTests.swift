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
    }
#endif
