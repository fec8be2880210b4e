internal import Foundation
internal import Platform

/// Reads a file in chunks of 128 KiB.
///
/// Reads happen on the thread that asks for the chunk: they are short, mostly come from the page cache, and a hop to another
/// thread costs more than the read.
final class FileChunks {
    private static let chunkSize = 128 << 10
    private let path: String
    private var descriptor: Int32 = -1

    private init(path: String) { self.path = path }

    deinit { closeFile() }

    static func iterator(forFileAt path: String) -> ChunkIterator {
        let file = FileChunks(path: path)
        return ChunkIterator { try file.read() }
    }

    /// The size of a regular file; nil for anything else, and when there is none.
    static func length(ofFileAt path: String) -> Int64? {
        #if canImport(Darwin)
            // `stat` and its kin tell a file's dates as well, so that apps have to give a reason for calling them.
            let file = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
            let attributes = try? FileManager.default.attributesOfItem(atPath: file)
            guard let attributes, attributes[.type] as? FileAttributeType == .typeRegular else { return nil }
            return attributes[.size] as? Int64
        #else
            var status = stat()
            guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
            return Int64(status.st_size)
        #endif
    }

    private func read() throws -> [UInt8]? {
        if descriptor < 0 {
            descriptor = open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw failure("open") }
        }
        var result = 0
        let chunk = [UInt8](unsafeUninitializedCapacity: Self.chunkSize) { buffer, count in
            repeat {
                result = System.read(descriptor, buffer.baseAddress, buffer.count)
            } while result < 0 && errno == EINTR
            count = max(0, result)
        }
        guard result >= 0 else { throw failure("read") }
        if result == 0 {
            closeFile()
            return nil
        }
        return chunk
    }

    private func closeFile() {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
    }

    private func failure(_ what: String) -> HTTPError {
        HTTPError(.bodyUnreadable, "Can't \(what) the file \(path): \(String(cString: strerror(errno))).")
    }
}
