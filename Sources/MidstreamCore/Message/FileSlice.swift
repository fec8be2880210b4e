public import Foundation
internal import MidstreamPlatform

extension HTTPBody {
    /// A part of a file, read in chunks while it is sent; replayable, its length known without looking at the file.
    ///
    /// The file is opened for each reading and closed after it. An empty range is no body, and the file isn't looked at.
    ///
    /// - Parameters:
    ///   - url: Where the file is.
    ///   - range: The bytes from the file's beginning, the upper bound excluded. A file that ends before it, or can't be read, makes sending
    ///     fail with ``HTTPError/Code/bodyUnreadable``, as does a negative bound.
    public static func file(_ url: URL, range: Range<Int64>) -> HTTPBody {
        let path = url.path
        return slice(range) { try OpenFile(path: path) }
    }

    /// A part of an open file, which stays open while the body is kept. Its path may be gone. Readings at the same time are independent.
    package static func file(_ file: OpenFile, range: Range<Int64>) -> HTTPBody { slice(range) { file } }

    private static func slice(_ range: Range<Int64>, open: @escaping @Sendable () throws -> OpenFile) -> HTTPBody {
        if range.isEmpty { return .empty }
        guard range.lowerBound >= 0 else {
            return .failing(HTTPError(.bodyUnreadable, "A file has no bytes before its beginning, as in \(range)."))
        }
        let length = range.upperBound - range.lowerBound
        return HTTPBody(.stream(FreshChunks(length: length) { slice(range, open) }))
    }

    private static func slice(_ range: Range<Int64>, _ open: @escaping @Sendable () throws -> OpenFile) -> ChunkIterator {
        var opened: OpenFile?
        var offset = range.lowerBound
        return ChunkIterator {
            guard offset < range.upperBound else {
                // Not kept open by an iterator that outlives its end.
                opened = nil
                return nil
            }
            let file = try opened ?? open()
            opened = file
            let chunk = try file.read(at: offset, upTo: Int(Swift.min(range.upperBound - offset, Int64(OpenFile.chunkSize))))
            guard !chunk.isEmpty else {
                throw HTTPError(
                    .bodyUnreadable, "The file \(file.name) ends after \(offset) bytes, within the range \(range) that is sent.")
            }
            offset += Int64(chunk.count)
            return chunk
        }
    }
}

/// A file that is open for reading, closed on release.
///
/// Each read has its own offset, so any number of readers can share it.
package final class OpenFile: Sendable {
    /// 128 KiB.
    static let chunkSize = 128 << 10

    /// Its name in errors.
    let name: String
    private let descriptor: Int32

    /// Opens a file.
    ///
    /// - Throws: ``HTTPError/Code/bodyUnreadable``, also for a pipe or a folder, which can't be read at any offset.
    package convenience init(path: String) throws {
        // A pipe's other end isn't waited for.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw Self.failure("open", path) }
        self.init(descriptor: descriptor, name: path)
        guard pread(descriptor, nil, 0, 0) == 0 else { throw Self.failure("read", path) }
    }

    /// Takes over a descriptor that can be read at any offset, and closes it.
    package init(descriptor: Int32, name: String) {
        self.descriptor = descriptor
        self.name = name
    }

    deinit { MidstreamPlatform.close(descriptor) }

    /// Where it ends now; zero where the system doesn't know, as of a device.
    var end: Int64 { max(0, Int64(lseek(descriptor, 0, SEEK_END))) }

    /// The bytes from an offset, as many as the system gives at once; none at the end.
    func read(at offset: Int64, upTo count: Int) throws -> [UInt8] {
        var result = 0
        let chunk = [UInt8](unsafeUninitializedCapacity: count) { buffer, count in
            result = System.read(descriptor, buffer.baseAddress, buffer.count, at: offset)
            count = max(0, result)
        }
        guard result >= 0 else { throw Self.failure("read", name) }
        return chunk
    }

    private static func failure(_ what: String, _ name: String) -> HTTPError {
        HTTPError(.bodyUnreadable, "Can't \(what) the file \(name): \(String(cString: strerror(errno))).")
    }
}
