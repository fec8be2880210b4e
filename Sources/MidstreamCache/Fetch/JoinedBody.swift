internal import Interception
internal import MidstreamCore

/// A body of stored bytes, and then those that are arriving.
struct JoinedBody: AsyncSequence, Sendable {
    let stored: HTTPBody
    let arriving: HTTPBody

    struct AsyncIterator: AsyncIteratorProtocol {
        var stored: HTTPBody.AsyncIterator?
        var arriving: HTTPBody.AsyncIterator

        mutating func next() async throws -> [UInt8]? {
            if let chunk = try await stored?.next() { return chunk }
            stored = nil
            return try await arriving.next()
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(stored: stored.makeAsyncIterator(), arriving: arriving.makeAsyncIterator())
    }
}
