internal import Foundation
internal import MidstreamPlatform

extension RequestTask {
    /// Stops in the debugger when the task has its result. Without a debugger it does nothing.
    ///
    /// - Parameter condition: At which results to stop; at each by default.
    public func breakpoint(
        when condition: @escaping @Sendable (Result<Element, any Error>) -> Bool = { _ in true }
    ) -> AnyRequestTask<Element> {
        breakpoint(when: condition) { if Debugger.isAttached { raise(SIGTRAP) } }
    }

    func breakpoint(
        when condition: @escaping @Sendable (Result<Element, any Error>) -> Bool, stop: @escaping @Sendable () -> Void
    ) -> AnyRequestTask<Element> {
        detach { if condition($0) { stop() } }
    }
}

/// Without a debugger the signal of a breakpoint would end the process.
private enum Debugger {
    static var isAttached: Bool {
        #if canImport(Darwin)
            var information = kinfo_proc()
            var size = MemoryLayout<kinfo_proc>.stride
            var name: [Int32] = [CTL_KERN, KERN_PROC, KERN_PROC_PID, getpid()]
            guard sysctl(&name, UInt32(name.count), &information, &size, nil, 0) == 0 else { return false }
            return information.kp_proc.p_flag & P_TRACED != 0
        #else
            guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return false }
            let line = status.split(separator: "\n").first { $0.hasPrefix("TracerPid:") }
            return line.map { !$0.hasSuffix("\t0") } ?? false
        #endif
    }
}
