import Glibc

/// Nanoseconds of the monotonic clock.
func now() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

/// What the process has used up at some moment; the difference of two is what lies between.
struct Reading {
    private typealias Counter = @convention(c) () -> UInt64

    let nanoseconds: UInt64
    let cpuSeconds: Double
    /// Nil when the counting library wasn't preloaded.
    let allocations: UInt64?

    init() {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        cpuSeconds = Self.seconds(usage.ru_utime) + Self.seconds(usage.ru_stime)
        allocations = dlsym(nil, "midstream_malloc_count").map { unsafeBitCast($0, to: Counter.self)() }
        nanoseconds = now()
    }

    private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }

    /// The largest resident size of the process so far. Not `ru_maxrss`: that one includes the size of the process that has
    /// started this one.
    static func peakKiB() -> Int {
        guard let file = fopen("/proc/self/status", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, Int32(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            guard text.hasPrefix("VmHWM:") else { continue }
            return text.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) } ?? 0
        }
        return 0
    }
}
