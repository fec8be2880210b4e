#if os(Linux)
    import Glibc
    internal import MidstreamCore

    /// A file of the secrets of TLS sessions, a line each, for programs that decrypt what was recorded of a network (RFC 9850).
    final class KeyLog: Sendable {
        private let descriptor: Int32

        /// Opens the file, which nobody but its owner can read from now on.
        ///
        /// - Throws: ``HTTPError`` with ``HTTPError/Code/tls`` when that can't be done, or it is no regular file.
        init(_ path: String) throws {
            // A pipe's reader isn't waited for.
            descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
            guard descriptor >= 0 else { throw Self.problem(path, String(cString: strerror(errno))) }
            var status = stat()
            // A device, such as /dev/null, has to stay everybody's, and root could change that.
            guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
                throw Self.problem(path, "it is no regular file")
            }
            guard fchmod(descriptor, 0o600) == 0 else { throw Self.problem(path, String(cString: strerror(errno))) }
        }

        deinit { if descriptor >= 0 { close(descriptor) } }

        private static func problem(_ path: String, _ reason: String) -> HTTPError {
            HTTPError.tls("The file for TLS's secrets, \(path), can't be written: \(reason).")
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
