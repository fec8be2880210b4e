import Interception
import MidstreamCore
import TestSupport

/// Bytes in pieces, each of which arrives by itself.
struct Pieces: AsyncSequence, Sendable {
    let pieces: [[UInt8]]

    init(_ pieces: [[UInt8]]) { self.pieces = pieces }

    /// So many bytes in each piece.
    init(_ bytes: [UInt8], of size: Int) {
        pieces = stride(from: 0, to: bytes.count, by: size).map { Array(bytes[$0..<Swift.min($0 + size, bytes.count)]) }
    }

    /// Cut at a place.
    init(_ bytes: [UInt8], cutAt place: Int) { pieces = [Array(bytes[..<place]), Array(bytes[place...])].filter { !$0.isEmpty } }

    struct AsyncIterator: AsyncIteratorProtocol {
        var rest: ArraySlice<[UInt8]>
        mutating func next() async throws -> [UInt8]? { rest.popFirst() }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rest: pieces[...]) }

    var body: HTTPBody { .stream { self } }
}

extension AsyncSequence {
    func all() async throws -> [Element] {
        var all: [Element] = []
        for try await element in self { all.append(element) }
        return all
    }
}

/// What a sequence gives before its error, and the error.
func outcome<S: AsyncSequence>(of sequence: S) async -> ([S.Element], HTTPError?) {
    var all: [S.Element] = []
    do {
        for try await element in sequence { all.append(element) }
        return (all, nil)
    } catch {
        return (all, error as? HTTPError)
    }
}
