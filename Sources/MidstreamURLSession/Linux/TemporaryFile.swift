#if canImport(FoundationNetworking)
    internal import Foundation
    internal import MidstreamCore
    internal import MidstreamPlatform

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
            guard bytes.withUnsafeBytes({ System.write(descriptor, $0, at: offset) }) else { throw Self.failure() }
        }

        func read(_ count: Int, at offset: Int64) throws -> [UInt8] {
            var result = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
                result = System.read(descriptor, buffer.baseAddress, count, at: offset)
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
