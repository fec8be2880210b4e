import Interception
import TestSupport
import Testing

@Suite("TimerHeap")
struct TimerHeapTests {
    @Test("elements come in the order of their times, and of equal times in that of their coming")
    func order() {
        var heap = TimerHeap<Int, String>()
        for (time, name) in [(3, "c"), (1, "a"), (2, "b"), (1, "a2"), (3, "c2"), (1, "a3")] { heap.insert(name, at: time) }
        #expect(heap.nextDue == 1)
        #expect(heap.removeFirst(upTo: 0) == nil)
        var names: [String] = []
        while let name = heap.removeFirst(upTo: 2) { names.append(name) }
        #expect(names == ["a", "a2", "a3", "b"])
        #expect(heap.count == 2)
        #expect(heap.nextDue == 3)
    }

    @Test("whatever is put in and removed, it holds what a sorted list would", arguments: 0..<20 as Range<UInt64>)
    func model(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var heap = TimerHeap<Int, Int>()
        var list: [(due: Int, number: Int)] = []
        var tickets: [(number: Int, ticket: TimerHeap<Int, Int>.Ticket)] = []
        for number in 0..<600 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                let due = Int.random(in: 0..<100, using: &random)
                tickets.append((number, heap.insert(number, at: due)))
                list.append((due, number))
            case 5..<8:
                // Those that have left may be removed again.
                guard let (number, ticket) = tickets.randomElement(using: &random) else { continue }
                let place = list.firstIndex { $0.number == number }
                #expect(heap.remove(ticket) == (place == nil ? nil : number))
                if let place { list.remove(at: place) }
            case 8:
                let now = Int.random(in: 0..<100, using: &random)
                let first = list.min { ($0.due, $0.number) < ($1.due, $1.number) }.flatMap { $0.due <= now ? $0.number : nil }
                #expect(heap.removeFirst(upTo: now) == first)
                list.removeAll { $0.number == first }
            default:
                // All of them, so that its memory is used anew.
                while heap.count < 5, let first = heap.removeFirst(upTo: .max) { list.removeAll { $0.number == first } }
            }
            #expect(heap.count == list.count)
            #expect(heap.nextDue == list.map(\.due).min())
        }
    }

    @Test("a ticket names nobody else, even after the heap has been empty")
    func tickets() {
        var heap = TimerHeap<Int, Int>()
        let old = (0..<2_000).map { heap.insert($0, at: $0) }
        for ticket in old { #expect(heap.remove(ticket) != nil) }
        for number in 0..<2_000 { heap.insert(number, at: number) }
        for ticket in old { #expect(heap.remove(ticket) == nil) }
        #expect(heap.count == 2_000)
    }
}
