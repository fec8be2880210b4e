import Foundation
import Midstream

/// What a pipe or a terminal brings, in chunks, as it comes.
struct InputChunks: AsyncSequence, AsyncIteratorProtocol, Sendable {
    let file: FileHandle
    /// Whether no more is to be waited for: what is there already comes, and it ends then.
    var isImpatient: @Sendable () -> Bool = { false }

    func makeAsyncIterator() -> Self { self }

    func next() async throws -> [UInt8]? {
        let isCancelled = Locked(false)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                // A read that waits would take a thread from the tasks.
                DispatchQueue.global().async { waiter.resume(with: Result { try read(until: isCancelled) }) }
            }
        } onCancel: {
            isCancelled.withLock { $0 = true }
        }
    }

    private func read(until isCancelled: Locked<Bool>) throws -> [UInt8]? {
        while true {
            if isCancelled.withLock({ $0 }) { throw CancellationError() }
            let patience: Int32 = isImpatient() ? 0 : 100
            var input = pollfd(fd: file.fileDescriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&input, 1, patience) != 0 else {
                if patience == 0 { return nil }
                continue
            }
            var bytes = [UInt8](repeating: 0, count: 64 << 10)
            let count = Foundation.read(file.fileDescriptor, &bytes, bytes.count)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count >= 0 else { throw RunFailure("can't read the input: \(String(cString: strerror(errno)))") }
            return count == 0 ? nil : Array(bytes.prefix(count))
        }
    }
}
