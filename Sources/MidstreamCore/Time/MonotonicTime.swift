internal import Platform

/// Nanoseconds of a clock that never goes back. Read directly, since it is read twice for every interceptor.
///
/// It counts the time in which the machine sleeps, as `ContinuousClock` does: a limit that begins on one of them and is waited for on the
/// other would otherwise be longer by that time.
@inline(__always)
package func monotonicNanoseconds() -> UInt64 {
    #if canImport(Darwin)
        return clock_gettime_nsec_np(CLOCK_MONOTONIC_RAW)
    #else
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    #endif
}
