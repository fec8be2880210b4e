/// Elements in the order of their times, as a binary heap from which each can be removed; of equal times the first that came is the first.
package struct TimerHeap<Due: Comparable & Sendable, Element: Sendable>: Sendable {
    /// An element's name, for its removal. No number is used twice.
    package typealias Ticket = (slot: Int, number: UInt64)

    @usableFromInline var nodes: [(due: Due, ticket: Ticket)] = []
    /// The elements and where their nodes are, at places that don't change; nil: a free slot.
    @usableFromInline var slots: [(number: UInt64, place: Int, element: Element?)] = []
    @usableFromInline var freeSlots: [Int] = []
    @usableFromInline var lastNumber: UInt64 = 0

    @inlinable
    package init() {}

    @inlinable package var count: Int { nodes.count }

    /// The earliest time.
    @inlinable package var nextDue: Due? { nodes.first?.due }

    @inlinable @discardableResult
    package mutating func insert(_ element: Element, at due: Due) -> Ticket {
        lastNumber += 1
        let slot = freeSlots.popLast() ?? slots.count
        if slot == slots.count {
            slots.append((lastNumber, nodes.count, element))
        } else {
            slots[slot] = (lastNumber, nodes.count, element)
        }
        nodes.append((due, (slot, lastNumber)))
        rise(from: nodes.count - 1)
        return (slot, lastNumber)
    }

    /// Removes an element; nil when it has left already.
    @inlinable @discardableResult
    package mutating func remove(_ ticket: Ticket) -> Element? {
        guard ticket.slot < slots.count, slots[ticket.slot].number == ticket.number, let element = slots[ticket.slot].element
        else {
            return nil
        }
        let place = slots[ticket.slot].place
        slots[ticket.slot].element = nil
        freeSlots.append(ticket.slot)
        swap(place, nodes.count - 1)
        nodes.removeLast()
        if place < nodes.count {
            rise(from: place)
            sink(from: place)
        } else if nodes.isEmpty, slots.count > 1_024 {
            // What a rush has taken up.
            (nodes, slots, freeSlots) = ([], [], [])
        }
        return element
    }

    /// Removes the first element if its time isn't later than the given one.
    @inlinable
    package mutating func removeFirst(upTo due: Due) -> Element? {
        guard let first = nodes.first, first.due <= due else { return nil }
        return remove(first.ticket)
    }

    @inlinable
    mutating func rise(from place: Int) {
        var place = place
        while place > 0, isBefore(place, (place - 1) / 2) {
            swap(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    @inlinable
    mutating func sink(from place: Int) {
        var place = place
        while true {
            var first = place
            for child in [2 * place + 1, 2 * place + 2] where child < nodes.count && isBefore(child, first) { first = child }
            if first == place { return }
            swap(place, first)
            place = first
        }
    }

    @inlinable
    func isBefore(_ a: Int, _ b: Int) -> Bool { (nodes[a].due, nodes[a].ticket.number) < (nodes[b].due, nodes[b].ticket.number) }

    @inlinable
    mutating func swap(_ a: Int, _ b: Int) {
        nodes.swapAt(a, b)
        slots[nodes[a].ticket.slot].place = a
        slots[nodes[b].ticket.slot].place = b
    }
}
