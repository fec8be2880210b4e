import Glibc
import Measuring

/// Nanoseconds of the monotonic clock.
func now() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

/// What the process has used up at some moment; the difference of two is what lies between.
struct Reading {
    let nanoseconds: UInt64
    let cpuSeconds: Double
    /// Nil when the counting library wasn't preloaded.
    let allocations: UInt64?

    init() {
        cpuSeconds = Usage.processorSeconds
        allocations = Usage.allocations
        nanoseconds = now()
    }
}
