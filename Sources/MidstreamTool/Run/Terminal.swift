import Foundation

/// Where output goes: answers to standard output, everything about them to standard error.
enum Terminal {
    /// Has writing to a reader that has gone away fail, rather than end the process. A standard descriptor that is closed is made one that
    /// can't be used, so that no socket or file gets its number.
    static func prepare() {
        signal(SIGPIPE, SIG_IGN)
        for descriptor: Int32 in 0...2 where fcntl(descriptor, F_GETFD) == -1 {
            _ = open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY)
        }
    }

    static func print(_ text: String) throws { try put(Array((text + "\n").utf8), into: STDOUT_FILENO) }
    static func printError(_ text: String) { put(error: text + "\n") }
    static func put(error text: String) { try? put(Array(text.utf8), into: STDERR_FILENO) }

    /// Replaces a file by a page, or makes it.
    static func save(page: String, to file: String) throws {
        do {
            try Data(page.utf8).write(to: URL(fileURLWithPath: file), options: .atomic)
        } catch {
            throw UsageError("can't write \(file): \(error.localizedDescription)")
        }
    }

    /// Writes all of the bytes.
    ///
    /// - Throws: `OutputFailure`.
    static func put(_ bytes: [UInt8], into descriptor: Int32) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&room, 1, -1)
            } else if errno != EINTR {
                throw OutputFailure(code: errno)
            }
        }
    }
}

/// Output that can't be written.
struct OutputFailure: Error, CustomStringConvertible {
    /// One of `errno`'s.
    let code: Int32

    var description: String { "can't write the output: \(String(cString: strerror(code)))" }
}
