/// Looks at one reading of a body and may refuse its end. Used by one task at a time.
package struct BodyCheck {
    package let onChunk: ([UInt8]) throws -> Void
    package let atEnd: (HTTPHeaders?) throws -> Void

    /// - Parameters:
    ///   - onChunk: Gets each chunk before the reader does.
    ///   - atEnd: Gets the fields after the body. What it throws comes in place of the end.
    package init(onChunk: @escaping ([UInt8]) throws -> Void, atEnd: @escaping (HTTPHeaders?) throws -> Void) {
        self.onChunk = onChunk
        self.atEnd = atEnd
    }
}

extension HTTPBody {
    /// The same body, as replayable as it is, of which each reading is checked. An error of the check comes in place of the chunk or of
    /// the end, each time it is read, and closes a body that is arriving. A body in memory becomes a stream; no body stays none.
    package func checked(_ begin: @escaping @Sendable () throws -> BodyCheck) -> HTTPBody {
        transformed(length: length, contentType: contentType) {
            let check = try begin()
            return ChunkTransform {
                try check.onChunk($0)
                return $0
            } atEnd: {
                try check.atEnd($0)
            }
        }
    }
}
