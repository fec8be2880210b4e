/// Elements in the order of their times, as a binary heap from which each can be removed; of equal times the first that came is the first.
package struct TimerHeap<Due: Comparable & Sendable, Element: Sendable>: Sendable {
    /// An element's name, for its removal. None is used twice.
    package struct Ticket: Sendable {
        @usableFromInline let slot: Int
        @usableFromInline let number: UInt64

        @inlinable
        init(slot: Int, number: UInt64) { (self.slot, self.number) = (slot, number) }
    }

    @usableFromInline
    struct Node: Sendable {
        @usableFromInline let due: Due
        @usableFromInline let ticket: Ticket

        @inlinable
        init(due: Due, ticket: Ticket) { (self.due, self.ticket) = (due, ticket) }

        @inlinable
        func isBefore(_ other: Node) -> Bool { due != other.due ? due < other.due : ticket.number < other.ticket.number }
    }

    /// What is known of an element beside its time, at a place that doesn't change.
    @usableFromInline
    struct Slot: Sendable {
        @usableFromInline var number: UInt64
        /// Where its node is.
        @usableFromInline var place: Int
        /// nil: the slot is free.
        @usableFromInline var element: Element?

        @inlinable
        init(number: UInt64, place: Int, element: Element) { (self.number, self.place, self.element) = (number, place, element) }
    }

    @usableFromInline var nodes: [Node] = []
    @usableFromInline var slots: [Slot] = []
    @usableFromInline var freeSlots: [Int] = []
    @usableFromInline var lastNumber: UInt64 = 0

    @inlinable
    package init() {}

    @inlinable package var count: Int { nodes.count }

    /// The earliest time.
    @inlinable package var nextDue: Due? { nodes.first?.due }

    @inlinable
    @discardableResult
    package mutating func insert(_ element: Element, at due: Due) -> Ticket {
        lastNumber += 1
        let slot = Slot(number: lastNumber, place: nodes.count, element: element)
        let ticket = Ticket(slot: freeSlots.popLast() ?? slots.count, number: lastNumber)
        if ticket.slot == slots.count { slots.append(slot) } else { slots[ticket.slot] = slot }
        nodes.append(Node(due: due, ticket: ticket))
        rise(from: nodes.count - 1)
        return ticket
    }

    /// Removes an element; nil when it has left already.
    @inlinable
    @discardableResult
    package mutating func remove(_ ticket: Ticket) -> Element? {
        guard ticket.slot < slots.count, slots[ticket.slot].number == ticket.number, let element = slots[ticket.slot].element
        else {
            return nil
        }
        let place = slots[ticket.slot].place
        slots[ticket.slot].element = nil
        freeSlots.append(ticket.slot)
        let last = nodes.removeLast()
        if place < nodes.count {
            nodes[place] = last
            slots[last.ticket.slot].place = place
            rise(from: place)
            sink(from: place)
        } else if nodes.isEmpty {
            shrink()
        }
        return element
    }

    /// Removes the first element if its time isn't later than the given one.
    @inlinable
    package mutating func removeFirst(upTo due: Due) -> Element? {
        guard let first = nodes.first, first.due <= due else { return nil }
        return remove(first.ticket)
    }

    /// Forgets the slots, and most of the memory after a rush.
    @inlinable
    mutating func shrink() {
        let isSmall = slots.count <= 1_024
        nodes.removeAll(keepingCapacity: isSmall)
        slots.removeAll(keepingCapacity: isSmall)
        freeSlots.removeAll(keepingCapacity: isSmall)
    }

    @inlinable
    mutating func rise(from place: Int) {
        var place = place
        while place > 0, nodes[place].isBefore(nodes[(place - 1) / 2]) {
            swap(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    @inlinable
    mutating func sink(from place: Int) {
        var place = place
        while true {
            var first = place
            for child in [2 * place + 1, 2 * place + 2] where child < nodes.count && nodes[child].isBefore(nodes[first]) {
                first = child
            }
            if first == place { return }
            swap(place, first)
            place = first
        }
    }

    @inlinable
    mutating func swap(_ a: Int, _ b: Int) {
        nodes.swapAt(a, b)
        slots[nodes[a].ticket.slot].place = a
        slots[nodes[b].ticket.slot].place = b
    }
}
