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

    /// How much memory is resident, in kilobytes.
    static var residentKilobytes: Int? {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return nil }
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return line.flatMap { $0.split(separator: " ").dropFirst().first }.flatMap { Int($0.filter(\.isNumber)) }
    }
}
