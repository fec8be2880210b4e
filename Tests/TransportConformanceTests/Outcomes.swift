import Foundation
import MidstreamCore
import Testing

/// What an operation ends with, when it isn't a value.
func failure(_ operation: () async throws -> some Any) async -> (any Error)? {
    do {
        _ = try await operation()
        return nil
    } catch {
        return error
    }
}

/// Expects an ``HTTPError`` of a code, that tells how far the request had come.
@discardableResult
func expectError(
    _ code: HTTPError.Code, _ progress: HTTPError.Phase? = nil, sourceLocation: SourceLocation = #_sourceLocation,
    from operation: () async throws -> some Any
) async -> HTTPError? {
    let error = await failure(operation)
    guard let error = error as? HTTPError else {
        Issue.record(
            "\(code) was expected, not \(error.map { "\($0)" } ?? "a success")", sourceLocation: sourceLocation)
        return nil
    }
    #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
    if let progress { #expect(error.phase == progress, "\(error)", sourceLocation: sourceLocation) }
    return error
}

/// Bytes without a pattern, the same for the same seed, so that a lost, doubled or changed one shows.
func noise(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var state = seed &* 0x9e37_79b9_7f4a_7c15 | 1
    return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
        for index in 0..<count {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            buffer.initializeElement(at: index, to: UInt8(truncatingIfNeeded: state >> 32))
        }
        initialized = count
    }
}

extension [UInt8] {
    init(_ text: String) { self = Array(text.utf8) }

    /// The bytes in pieces of a size.
    func pieces(of size: Int) -> [[UInt8]] {
        stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]) }
    }
}

extension [[UInt8]] {
    /// A sequence of these chunks, which may end with an error.
    func asynchronous(thenThrowing error: (any Error)? = nil) -> AsyncThrowingStream<[UInt8], any Error> {
        AsyncThrowingStream { continuation in
            for chunk in self { continuation.yield(chunk) }
            continuation.finish(throwing: error)
        }
    }
}
