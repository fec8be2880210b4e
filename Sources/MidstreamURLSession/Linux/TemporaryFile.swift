#if canImport(FoundationNetworking)
    internal import Foundation
    internal import MidstreamCore
    internal import Platform

    /// A file that only this process's user can read, and that goes with the object; one without a name also goes with the
    /// process.
    ///
    /// Its members may be called from any thread, each position being written before it is read.
    final class TemporaryFile: Sendable {
        /// Where it is; nil without a name.
        let url: URL?
        private let descriptor: Int32

        init(isNamed: Bool) throws {
            var template = Array(
                FileManager.default.temporaryDirectory.appendingPathComponent("midstream.XXXXXX").path.utf8CString)
            descriptor = mkstemp(&template)
            guard descriptor >= 0 else { throw Self.failure() }
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            if isNamed {
                url = URL(fileURLWithPath: String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self))
            } else {
                url = nil
                unlink(template)
            }
            ResourceWitness.tell(of: self)
        }

        deinit {
            if let url { unlink(url.path) }
            close(descriptor)
        }

        func write(_ bytes: some Collection<UInt8> & ContiguousBytes, at offset: Int64) throws {
            var written = 0
            while written < bytes.count {
                let count = bytes.withUnsafeBytes { all in
                    pwrite(
                        descriptor, all.baseAddress?.advanced(by: written), all.count - written, off_t(offset) + off_t(written))
                }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw Self.failure() }
                written += count
            }
        }

        func read(_ count: Int, at offset: Int64) throws -> [UInt8] {
            var result = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
                repeat { result = pread(descriptor, buffer.baseAddress, count, off_t(offset)) } while result < 0 && errno == EINTR
                initialized = max(0, result)
            }
            guard result > 0 else { throw Self.failure() }
            return bytes
        }

        /// Gives the space back.
        func clear() { _ = ftruncate(descriptor, 0) }

        private static func failure() -> POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }
#endif
