import Interception
import TestSupport
import Testing

@Suite("Locked")
struct LockedTests {
    @Test("the value is reached by one at a time")
    func exclusive() async {
        let counter = Locked(0)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { for _ in 0..<1_000 { counter.withLock { $0 += 1 } } } }
        }
        #expect(counter.withLock { $0 } == 8_000)
    }

    @Test("a lock that somebody holds isn't waited for")
    func free() {
        let counter = Locked(0)
        let other = counter
        #expect(counter.withLock { _ in other.withLockIfFree { $0 } } == nil)
        #expect(throws: Failure()) { try counter.withLockIfFree { _ in throw Failure() } }
        #expect(counter.withLockIfFree { $0 } == 0)
    }

    @Test("the lock is released when the body throws, and the value with the last copy")
    func released() {
        final class Canary {}
        weak var seen: Canary?
        do {
            let locked = Locked<Canary?>(Canary())
            #expect(throws: Failure()) { try locked.withLock { _ in throw Failure() } }
            seen = locked.withLock { $0 }
            #expect(seen != nil)
        }
        #expect(seen == nil)
    }
}
