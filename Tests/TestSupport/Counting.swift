package import Interception

extension Locked<Int> {
    /// Counts one more, and returns how many there are by now.
    package func increment() -> Int {
        withLock { count in
            count += 1
            return count
        }
    }
}

extension Locked<Bool> {
    /// Makes it false, and returns whether it was true.
    package func lower() -> Bool {
        withLock { flag in
            defer { flag = false }
            return flag
        }
    }
}
