#if os(Linux)
    import Glibc
    internal import MidstreamCore

    /// A file of the secrets of TLS sessions, a line each, for programs that decrypt what was recorded of a network (RFC 9850).
    final class KeyLog: Sendable {
        private let descriptor: Int32

        /// Opens the file, which nobody but its owner can read from now on.
        ///
        /// - Throws: ``HTTPError`` with ``HTTPError/Code/tls`` when that can't be done.
        init(_ path: String) throws {
            let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard descriptor >= 0 else { throw Self.problem(path, errno) }
            guard fchmod(descriptor, 0o600) == 0 else {
                let number = errno
                close(descriptor)
                throw Self.problem(path, number)
            }
            self.descriptor = descriptor
        }

        deinit { close(descriptor) }

        private static func problem(_ path: String, _ number: Int32) -> HTTPError {
            HTTPError.tls("The file for TLS's secrets, \(path), can't be written: \(String(cString: strerror(number))).")
        }

        /// Adds a line, in one piece: several connections, and processes, may write.
        func write(_ line: UnsafePointer<CChar>) {
            let length = strlen(line)
            withUnsafeTemporaryAllocation(byteCount: length + 1, alignment: 1) { buffer in
                buffer.copyMemory(from: UnsafeRawBufferPointer(start: line, count: length))
                buffer[length] = 10
                _ = Glibc.write(descriptor, buffer.baseAddress, buffer.count)
            }
        }
    }
#endif
