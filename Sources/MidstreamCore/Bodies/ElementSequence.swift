/// Elements that arrive one after another, such as the lines, events or values of a body, or the pages of an answer.
///
/// Iterating again begins again at the first element; a body that can be read once is claimed by the first iterator, one that is arriving by
/// the first that reads, and an iterator that is made then fails with ``HTTPError/Code/bodyNotReplayable``. Cancelling the task that reads
/// ends the reading.
public struct ElementSequence<Element>: AsyncSequence, Sendable {
    private let source: any ElementSource<Element>

    package init(_ source: some ElementSource<Element>) { self.source = source }

    /// Reads the elements.
    public struct AsyncIterator: AsyncIteratorProtocol {
        @usableFromInline let reader: ElementReader<Element>

        init(_ reader: ElementReader<Element>) { self.reader = reader }

        /// The next element; nil at the end, and after an error.
        ///
        /// - Throws: What the function throws that made the sequence, and what the body throws. A body that is still arriving is closed then.
        @inlinable
        nonisolated(nonsending) public mutating func next() async throws -> Element? {
            // Inlined: an element that has come already costs its reader no call of an asynchronous function, which takes as long as making the
            // text of a line.
            if let element = try reader.elementAtHand() { return element }
            return try await reader.next()
        }

        /// The same in the caller's isolation, as `for try await` calls it: reading an element that has arrived doesn't leave the actor.
        @inlinable
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Element? {
            if let element = try reader.elementAtHand() { return element }
            return try await reader.next()
        }
    }

    /// Begins at the first element.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source.makeReader()) }
}

/// What elements are read from.
@usableFromInline
package protocol ElementSource<Element>: Sendable {
    associatedtype Element
    associatedtype Iterator: ElementIterator where Iterator.Element == Element

    func makeIterator() -> Iterator
    /// A reader that hides the iterator's type. Left to the default, which is compiled for each source.
    func makeReader() -> ElementReader<Element>
}

extension ElementSource {
    @inlinable
    package func makeReader() -> ElementReader<Element> { ElementReader(makeIterator()) }
}

/// Reads elements one after another.
@usableFromInline
package protocol ElementIterator {
    associatedtype Element

    /// The next element if nothing has to be waited for; nil otherwise, and at the end.
    mutating func elementAtHand() throws -> Element?
    /// The next element; nil at the end, and after an error.
    nonisolated(nonsending) mutating func next() async throws -> Element?
}

extension ElementIterator {
    @inlinable
    package func elementAtHand() throws -> Element? { nil }
}

/// An iterator whose type isn't known.
@usableFromInline
package struct ElementReader<Element> {
    @usableFromInline let elementAtHand: () throws -> Element?
    @usableFromInline let next: nonisolated(nonsending) () async throws -> Element?

    @inlinable
    package init<Iterator: ElementIterator>(_ iterator: Iterator) where Iterator.Element == Element {
        let place = IteratorPlace(iterator)
        elementAtHand = { try place.iterator.elementAtHand() }
        next = { try await place.iterator.next() }
    }
}

@usableFromInline
final class IteratorPlace<Iterator> {
    /// Read by one task at a time, as an iterator is.
    @exclusivity(unchecked) @usableFromInline var iterator: Iterator

    @inlinable
    init(_ iterator: Iterator) { self.iterator = iterator }
}
