#if canImport(Darwin)
    internal import Foundation
#endif
internal import Platform

/// A file that is read from its beginning, on the reader's thread: reads are short, mostly served by the page cache, and cheaper than a hop
/// to another thread.
enum FileChunks {
    static func iterator(forFileAt path: String) -> ChunkIterator {
        var file: OpenFile?
        var isAtEnd = false
        return ChunkIterator {
            if isAtEnd { return nil }
            let opened = try file ?? OpenFile(anyKindAt: path)
            let chunk = try opened.read(upTo: OpenFile.chunkSize)
            isAtEnd = chunk.isEmpty
            // Not kept open by an iterator that outlives its end.
            file = isAtEnd ? nil : opened
            return isAtEnd ? nil : chunk
        }
    }

    /// The size of a regular file; nil for anything else, and when there is none.
    static func length(ofFileAt path: String) -> Int64? {
        #if canImport(Darwin)
            // `stat` returns a file's dates as well, for which apps have to declare a reason.
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
}
