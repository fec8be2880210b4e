import Glibc

/// The process's resident memory in bytes, as Linux tells it.
public enum ResidentMemory {
    /// At this moment.
    public static var now: Int { figure("VmRSS:") }

    /// The most so far. Not `ru_maxrss`: that one includes the size of the process that has started this one.
    public static var peak: Int { figure("VmHWM:") }

    /// The peak counts from here.
    public static func forgetPeak() {
        guard let file = fopen("/proc/self/clear_refs", "w") else { fatalError("no /proc/self/clear_refs") }
        fputs("5", file)
        fclose(file)
    }

    /// Without Foundation, whose own memory would be a part of what is measured.
    private static func figure(_ name: String) -> Int {
        guard let file = fopen("/proc/self/status", "r") else { fatalError("no /proc/self/status") }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, Int32(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            guard text.hasPrefix(name), let kibibytes = text.split(whereSeparator: { !$0.isNumber }).first.flatMap({ Int($0) })
            else { continue }
            return kibibytes << 10
        }
        fatalError("no \(name) in /proc/self/status")
    }
}
