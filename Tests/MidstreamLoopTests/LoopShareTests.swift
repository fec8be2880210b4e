#if os(Linux)
    import MidstreamCore
    import MidstreamTransport
    import TestSupport
    import Testing

    @testable import MidstreamLoop

    @Suite(.leavesNothing) struct LoopShareTests {
        @Test(arguments: [(1, 4), (2, 4), (4, 4), (5, 3), (256, 7), (256, 1)])
        func `The parts of a limit add up to it`(_ limit: Int, _ loops: Int) {
            for configuration in [
                TransportConfiguration(maximumConnectionsPerHost: limit, eventLoops: loops),
                TransportConfiguration(maximumConnections: limit, eventLoops: loops),
            ] {
                let count = LoopShare.count(configuration)
                #expect(count == min(limit, loops))
                let parts = (0..<count).map { LoopShare(place: $0, count: count, counts: nil).of(limit) }
                #expect(parts.reduce(0, +) == limit)
                #expect(parts.allSatisfy { $0 >= 1 })
            }
        }

        @Test(arguments: [Int.min, -1, 0]) func `A limit that allows nothing allows one connection`(_ limit: Int) {
            #expect(LoopShare.count(TransportConfiguration(maximumConnectionsPerHost: limit, eventLoops: 8)) == 1)
            #expect(LoopShare.whole.of(limit) == 1)
        }
    }
#endif
