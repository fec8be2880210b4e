#if canImport(Darwin)
    internal import Foundation
#endif
internal import MidstreamPlatform

/// A file that is read from its beginning, on the reader's thread: reads are short, mostly served by the page cache, and cheaper than a hop
/// to another thread.
enum FileChunks {
    static func iterator(forFileAt path: String) -> ChunkIterator {
        var file: OpenFile?
        // Where it is read, and where it ended when it was opened: it may grow, but what was cut isn't the whole.
        var (offset, end): (Int64, Int64) = (0, 0)
        var isAtEnd = false
        return ChunkIterator {
            if isAtEnd { return nil }
            let opened = try file ?? OpenFile(path: path)
            if file == nil { end = opened.end }
            let chunk = try opened.read(at: offset, upTo: OpenFile.chunkSize)
            guard !chunk.isEmpty || offset >= end else {
                throw HTTPError(
                    .bodyUnreadable, "The file \(path) ends after \(offset) of the \(end) bytes that it had when it was opened.")
            }
            offset += Int64(chunk.count)
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

extension HTTPRequest {
    /// Throws ``HTTPError/Code/bodyUnreadable`` for a file as the body that can't be opened, or can't be read at any offset, as a pipe.
    /// Transports ask before they send anything.
    package func checkFile() throws {
        do {
            if let path = body.filePath { _ = try OpenFile(path: path) }
        } catch let error as HTTPError {
            throw HTTPError(error.code, error.message, request: self, phase: .notSent)
        }
    }
}
