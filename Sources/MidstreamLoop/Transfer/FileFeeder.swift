#if os(Linux)
    import Glibc
    package import Interception
    package import MidstreamCore

    /// Has a file's bytes at hand for a loop that gives them to the system without reading them: a task of its own sees to it that they are
    /// in memory, some way ahead of what is sent, so that the loop's thread never waits for a disk.
    package final class FileFeeder: Feeder {
        private struct State {
            var file: Int32 = -1
            /// Bytes before this one are in memory.
            var ready: Int64 = 0
            var sent: Int64 = 0
            var feeding = FeedingTask()

            /// Whether enough is ready.
            var isAhead: Bool { ready - sent > FileFeeder.window }
        }

        /// How many bytes are brought into memory at once; up to two such pieces are ready. A multiple of a page.
        private static let window: Int64 = 4 << 20
        /// Files that are shorter are read: to map them takes longer.
        private static let shortest: Int64 = 256 << 10

        /// The file's length, which was announced.
        package let length: Int64
        private let path: String
        let executor: CallersExecutor
        private let state = Locked(State())

        /// Nil for what is no file, and for a short one.
        package init?(_ body: HTTPBody, length: Int64?, executor: CallersExecutor) {
            guard let path = body.filePath, let length, length >= Self.shortest else { return nil }
            self.path = path
            self.length = length
            self.executor = executor
        }

        func withTask<Result>(_ body: (inout FeedingTask) -> Result) -> Result { state.withLock { body(&$0.feeding) } }

        deinit {
            let file = state.withLock { $0.file }
            if file >= 0 { close(file) }
        }

        /// The bytes behind those that have been sent that are in memory, none when none are: the transfer is resumed when there are some.
        package func ready(behind sent: Int64, for transfer: Transfer) -> (file: Int32, count: Int) {
            let (found, waiter, mustStart) = state.withLock { state in
                state.sent = sent
                let count = max(0, state.ready - sent)
                state.feeding.isAwaited = count == 0
                let waiter = state.isAhead ? nil : state.feeding.waiter
                if waiter != nil { state.feeding.waiter = nil }
                return ((state.file, Int(count)), waiter, state.feeding.task == nil && !state.feeding.isStopped)
            }
            waiter?.resume()
            if mustStart { start(for: transfer) }
            return found
        }

        func feed(_ transfer: Transfer) async throws {
            let file = open(path, O_RDONLY | O_CLOEXEC)
            guard file >= 0 else {
                throw unreadable("Can't open the file \(path): \(String(cString: strerror(errno))).", transfer)
            }
            state.withLock { $0.file = file }
            var place: Int64 = 0
            while place < length {
                // Before its last bytes go out the request isn't complete, so that the server notices a fault.
                try checkLength(of: file, transfer)
                let end = min(place + Self.window, length)
                guard Self.bringIntoMemory(file, place..<end) else { throw unreadable(errno, transfer) }
                place = end
                let offer = state.withLock { state in
                    state.ready = end
                    return state.feeding.offer(isEnough: state.isAhead)
                }
                guard await waitForNeed(after: offer, for: transfer) else { return }
            }
        }

        private func checkLength(of file: Int32, _ transfer: Transfer) throws {
            var status = stat()
            guard fstat(file, &status) == 0, Int64(status.st_size) != length else { return }
            throw mismatch(isLonger: Int64(status.st_size) > length, transfer)
        }

        package func mismatch(isLonger: Bool, _ transfer: Transfer) -> HTTPError {
            unreadable("The body is \(isLonger ? "longer" : "shorter") than the \(length) bytes that were announced.", transfer)
        }

        /// - Parameter number: Why the system can't read it.
        package func unreadable(_ number: Int32, _ transfer: Transfer) -> HTTPError {
            unreadable("Can't read the file \(path): \(String(cString: strerror(number))).", transfer)
        }

        private func unreadable(_ text: String, _ transfer: Transfer) -> HTTPError {
            HTTPError(.bodyUnreadable, text, request: transfer.request, phase: .maybeProcessed)
        }

        /// Waits for the disk, without a copy where the kernel can (`MADV_POPULATE_READ`, Linux 5.14); false when it can't be read.
        private static func bringIntoMemory(_ file: Int32, _ range: Range<Int64>) -> Bool {
            let count = Int(range.upperBound - range.lowerBound)
            guard let pages = mmap(nil, count, PROT_READ, MAP_SHARED, file, Int(range.lowerBound)), pages != MAP_FAILED else {
                // There are file systems whose files can't be mapped.
                return readThrough(file, range)
            }
            defer { munmap(pages, count) }
            let populateRead: Int32 = 22
            // Where it isn't known or allowed; and a disk's own reason, which it doesn't tell.
            return madvise(pages, count, populateRead) == 0 || readThrough(file, range)
        }

        private static func readThrough(_ file: Int32, _ range: Range<Int64>) -> Bool {
            withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 1) { buffer in
                var place = range.lowerBound
                while place < range.upperBound {
                    let count = pread(file, buffer.baseAddress, buffer.count, Int(place))
                    if count < 0, errno == EINTR { continue }
                    guard count > 0 else { return count == 0 }
                    place += Int64(count)
                }
                return true
            }
        }
    }
#endif
