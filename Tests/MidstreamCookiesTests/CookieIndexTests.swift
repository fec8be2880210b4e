import Interception
import Testing

@testable import MidstreamCookies

@Suite("An index of cookies")
struct CookieIndexTests {
    private final class Counter: Sendable {
        private let count = Locked(0)
        var value: Int { count.withLock { $0 } }
        func add() { count.withLock { $0 += 1 } }
    }

    /// A last use that counts its comparisons.
    private struct Use: Comparable {
        let number: Int
        let counter: Counter

        static func == (left: Self, right: Self) -> Bool { left.number == right.number }
        static func < (left: Self, right: Self) -> Bool {
            left.counter.add()
            return left.number < right.number
        }
    }

    private func entry(_ number: Int, lastUse: Int) -> CookieShelves.Entry {
        let cookie = Cookie(
            name: "a", value: "1", domain: "h\(number).test", isHostOnly: true, path: "/", expires: nil, isSecure: false,
            isHTTPOnly: false)
        return .init(cookie: cookie, creation: number, lastUse: lastUse)
    }

    @Test("costs a binary search, however many hosts there are")
    func binarySearch() {
        let (comparisons, lookups) = (Counter(), Counter())
        var index = CookieIndex<Use> {
            lookups.add()
            return Use(number: $0.lastUse, counter: comparisons)
        }
        var shelves: [String: [CookieShelves.Entry]] = [:]
        for number in 0..<1_000 {
            let entry = entry(number, lastUse: number * 337 % 1_000)
            shelves[entry.cookie.domain] = [entry]
            index.insert(entry, of: shelves, total: shelves.count)
        }
        #expect(lookups.value == 1_000 && comparisons.value <= 1_000 * 11)
        let taken = (0..<1_000).map { _ in index.popFirst(in: shelves)?.lastUse }
        #expect(taken == Array(0..<1_000))
        #expect(lookups.value == 2_000 && index.popFirst(in: shelves) == nil)
    }

    @Test("drops outdated places, at a constant number of looks each")
    func outdated() {
        let lookups = Counter()
        var index = CookieIndex<Int> {
            lookups.add()
            return $0.lastUse
        }
        var shelves: [String: [CookieShelves.Entry]] = [:]
        var most = 0
        for use in 0..<10_000 {
            let entry = entry(use % 10, lastUse: use)
            shelves[entry.cookie.domain] = [entry]
            index.insert(entry, of: shelves, total: shelves.count)
            most = max(most, index.count)
        }
        #expect(most <= 2 * 10 + 50)
        #expect(lookups.value < 3 * 10_000)
        #expect((0..<11).map { _ in index.popFirst(in: shelves)?.lastUse } == (9_990..<10_000).map { $0 } + [nil])
    }
}
