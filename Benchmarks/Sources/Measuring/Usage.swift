import Glibc

/// What the process has used up so far.
public enum Usage {
    private typealias Counter = @convention(c) () -> UInt64

    /// Nil when the counting library wasn't preloaded.
    public static var allocations: UInt64? {
        dlsym(nil, "midstream_malloc_count").map { unsafeBitCast($0, to: Counter.self)() }
    }

    /// Of the processor, user and system.
    public static var processorSeconds: Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }

    private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
}
