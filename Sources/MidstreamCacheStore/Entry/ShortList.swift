/// A list that mostly has one element, which takes no memory of its own.
@frozen
@usableFromInline
package struct ShortList<Element>: RandomAccessCollection {
    @usableFromInline
    var only: Element?
    /// Empty as long as there is one element at most.
    @usableFromInline
    var several: [Element] = []

    @inlinable
    package init() {}

    @inlinable
    package init(_ element: Element) { only = element }

    @inlinable
    package var startIndex: Int { 0 }
    @inlinable
    package var endIndex: Int { only == nil ? several.count : 1 }

    @inlinable
    package subscript(place: Int) -> Element {
        get {
            guard let only else { return several[place] }
            precondition(place == 0, "There is one element.")
            return only
        }
        set { if only != nil { only = newValue } else { several[place] = newValue } }
    }

    @inlinable
    package mutating func removeAll(where isUnwanted: (Element) -> Bool) {
        guard let only else { return change { $0.removeAll(where: isUnwanted) } }
        if isUnwanted(only) { self.only = nil }
    }

    @inlinable
    package var elements: [Element] { only.map { [$0] } ?? several }

    @inlinable
    package mutating func append(_ element: Element) {
        if isEmpty { only = element } else { change { $0.append(element) } }
    }

    /// Changes all of them as an array.
    @inlinable
    package mutating func change(_ body: (inout [Element]) -> Void) {
        if let only { (several, self.only) = ([only], nil) }
        body(&several)
        if several.count == 1 { (only, several) = (several[0], []) }
    }
}

extension ShortList: Sendable where Element: Sendable {}
extension ShortList: Equatable where Element: Equatable {}
extension ShortList: Hashable where Element: Hashable {}
