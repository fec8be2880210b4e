#if os(Linux)
    import Interception
    import MidstreamCore
    import MidstreamLoop
    import Testing

    @Suite(.timeLimit(.minutes(10))) struct MonotonicTimeTests {
        /// On a machine that has slept there are two of them.
        @Test func `What measures time goes by the clock that waits go by`() {
            let start = continuousNanoseconds()
            let times = [Int64(monotonicNanoseconds()), Int64(MonotonicTime.now())]
            let end = continuousNanoseconds()
            for time in times { #expect((start...end).contains(time)) }
        }
    }
#endif
