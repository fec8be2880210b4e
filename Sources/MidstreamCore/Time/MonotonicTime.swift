internal import Platform

/// Nanoseconds of a clock that never goes back. Read directly, since it is read twice for every interceptor.
@inline(__always)
package func monotonicNanoseconds() -> UInt64 {
    #if canImport(Darwin)
        return clock_gettime_nsec_np(CLOCK_UPTIME_RAW)
    #else
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    #endif
}
