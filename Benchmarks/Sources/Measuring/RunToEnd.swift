import Dispatch
import Glibc

/// Waits until the work is done; its error ends the process.
///
/// For a `main` that isn't asynchronous: the thread of one that is ends before the process does, which the tools that count instructions
/// don't expect.
public func runToEnd(_ work: @escaping @Sendable () async throws -> Void) {
    let over = DispatchSemaphore(value: 0)
    Task.detached {
        do {
            try await work()
            over.signal()
        } catch {
            let name = CommandLine.arguments[0].split(separator: "/").last ?? ""
            let message = Array("\(name): \(error)\n".utf8)
            _ = message.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
            exit(1)
        }
    }
    over.wait()
}
