import Foundation

/// What the system says about this process; nil where it doesn't.
enum ProcessFigures {
    /// How many descriptors are open, apart from the one that it takes to look.
    static var descriptors: Int? {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")).map { $0.count - 1 }
    }

    /// How many threads there are.
    static var threads: Int? {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task"))?.count
    }

    /// The same once those that only wait for more work have ended, as libdispatch's do after five seconds.
    static func settledThreads() async -> Int? {
        var last: Int?
        for _ in 1...10 {
            try? await Task.sleep(for: .seconds(6))
            let now = threads
            if now == last { break }
            last = now
        }
        return last
    }

    /// How much memory is resident, in kilobytes.
    static var residentKilobytes: Int? {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return nil }
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return line.flatMap { $0.split(separator: " ").dropFirst().first }.flatMap { Int($0.filter(\.isNumber)) }
    }
}
