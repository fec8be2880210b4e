internal import Interception

/// Decides what leaves a full store: S3-FIFO (Yang et al., SOSP 2023), in which larger entries need more hits to stay.
///
/// New entries pass a small queue, which most that are used once leave again; those that are used meanwhile, or come back soon,
/// move to the main one. A hit is one counter; no list is relinked.
struct EvictionQueues {
    /// An entry's place.
    final class Seat {
        let size: Int64
        let ghost: Int
        /// Whose place it is; there at least as long as the place is taken.
        private(set) unowned var owner: AnyObject?
        fileprivate(set) var hits: UInt8 = 0
        fileprivate(set) var isTaken = true
        fileprivate var isInMain = false

        /// - Parameter ghost: The hash of what it is found by.
        init(size: Int64, ghost: Int, owner: AnyObject? = nil) {
            self.size = size
            self.ghost = ghost
            self.owner = owner
        }

        func hit() { if hits < 3 { hits += 1 } }
    }

    let capacity: Int64
    private(set) var bytes: Int64 = 0
    private(set) var count = 0
    private var small = Line()
    private var main = Line()
    private var ghosts = Ghosts()

    init(capacity: Int64) { self.capacity = capacity }

    /// Adds an entry, and returns those that have to go for it. An entry larger than the capacity mustn't be added.
    mutating func insert(_ seat: Seat) -> [Seat] {
        bytes += seat.size
        count += 1
        if ghosts.contains(seat.ghost) {
            seat.isInMain = true
            main.append(seat)
        } else {
            small.append(seat)
        }
        var evicted: [Seat] = []
        while bytes > capacity, let seat = next() { evicted.append(seat) }
        return evicted
    }

    /// Lets go of an entry that somebody took out.
    mutating func remove(_ seat: Seat) {
        guard seat.isTaken else { return }
        release(seat)
        if seat.isInMain { main.forget(seat) } else { small.forget(seat) }
    }

    private mutating func release(_ seat: Seat) {
        seat.isTaken = false
        bytes -= seat.size
        count -= 1
    }

    private mutating func next() -> Seat? {
        while true {
            if small.bytes > capacity / 10 || main.isEmpty, let seat = small.popFirst() {
                guard seat.hits >= neededHits(seat) else {
                    release(seat)
                    ghosts.insert(seat.ghost, limit: max(main.count, 64))
                    return seat
                }
                seat.hits = 0
                seat.isInMain = true
                main.append(seat)
            } else if let seat = main.popFirst() {
                let needed = neededHits(seat)
                guard seat.hits >= needed else {
                    release(seat)
                    return seat
                }
                seat.hits -= needed
                main.append(seat)
            } else {
                return nil
            }
        }
    }

    /// Up to the mean size one, up to four times that two, beyond it three.
    private func neededHits(_ seat: Seat) -> UInt8 {
        let mean = bytes / Int64(max(count, 1))
        return seat.size <= mean ? 1 : seat.size <= 4 * mean ? 2 : 3
    }

    /// First in, first out; what was taken out in between stays until it comes to the front, or until it is half of all.
    private struct Line {
        private var seats = Queue<Seat>()
        private(set) var bytes: Int64 = 0
        private(set) var count = 0

        var isEmpty: Bool { count == 0 }

        mutating func append(_ seat: Seat) {
            seats.append(seat)
            bytes += seat.size
            count += 1
        }

        mutating func popFirst() -> Seat? {
            while let seat = seats.popFirst() {
                tidy()
                guard seat.isTaken else { continue }
                bytes -= seat.size
                count -= 1
                return seat
            }
            return nil
        }

        mutating func forget(_ seat: Seat) {
            bytes -= seat.size
            count -= 1
            tidy()
        }

        private mutating func tidy() {
            guard seats.count > 64, seats.count > 2 * count else { return }
            seats = Queue(seats.all.filter(\.isTaken))
        }
    }

    /// What left the small queue lately.
    private struct Ghosts {
        private var order = Queue<Int>()
        private var present: Set<Int> = []

        func contains(_ ghost: Int) -> Bool { present.contains(ghost) }

        mutating func insert(_ ghost: Int, limit: Int) {
            if present.insert(ghost).inserted { order.append(ghost) }
            while order.count > limit, let oldest = order.popFirst() { present.remove(oldest) }
        }
    }
}
