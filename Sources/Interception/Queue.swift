/// First in, first out, with neither end costing more as it grows.
@usableFromInline
package struct Queue<Element> {
    /// Those before `head` have been taken out.
    @usableFromInline var elements: [Element?] = []
    @usableFromInline var head = 0

    @inlinable
    package init() {}

    /// With elements that wait already, the first one first.
    package init(_ waiting: [Element]) { elements = waiting }

    @inlinable package var count: Int { elements.count - head }
    @inlinable package var isEmpty: Bool { head == elements.count }
    @inlinable package var first: Element? { head < elements.count ? elements[head] : nil }
    package var all: [Element] { elements[head...].compactMap { $0 } }

    @inlinable
    package mutating func append(_ element: Element) { elements.append(element) }

    @inlinable
    package mutating func popFirst() -> Element? {
        guard head < elements.count else { return nil }
        defer {
            elements[head] = nil
            head += 1
            if head == elements.count || (head > 32 && head * 2 > elements.count) {
                elements.removeSubrange(..<head)
                head = 0
            }
        }
        return elements[head]
    }
}

extension Queue: Sendable where Element: Sendable {}
