#if os(Linux)
    internal import Interception

    /// Transfers that wait for a connection, in the order in which they came.
    struct TransferLine {
        private var transfers = Queue<Transfer>()
        /// How many of them don't wait any more.
        private var dead = 0

        var isEmpty: Bool { transfers.isEmpty }
        var rest: [Transfer] { transfers.all }

        mutating func append(_ transfer: Transfer) { transfers.append(transfer) }

        /// The next one that still waits.
        mutating func next() -> Transfer? {
            while let transfer = transfers.popFirst() {
                if transfer.admission.isWaiting { return transfer }
                dead -= 1
            }
            return nil
        }

        /// Takes out the first that still waits and is meant.
        mutating func take(where isMeant: (Transfer) -> Bool) -> Transfer? {
            while let first = transfers.first, !first.admission.isWaiting {
                _ = transfers.popFirst()
                dead -= 1
            }
            guard let first = transfers.first else { return nil }
            if isMeant(first) { return transfers.popFirst() }
            var rest = transfers.all
            guard let place = rest.firstIndex(where: { $0.admission.isWaiting && isMeant($0) }) else { return nil }
            defer { transfers = Queue(rest) }
            return rest.remove(at: place)
        }

        /// Takes out all that still wait and are meant, since they may come to wait again.
        mutating func takeAll(where isMeant: (Transfer) -> Bool) -> [Transfer] {
            let waiting = transfers.all.filter(\.admission.isWaiting)
            let taken = waiting.filter(isMeant)
            guard !taken.isEmpty else { return [] }
            transfers = Queue(waiting.filter { !isMeant($0) })
            dead = 0
            return taken
        }

        /// Notes that one was given up, and never waits again. They stay, and are skipped, until there are more of them than of those that
        /// wait: to let each go at once would take a look at all.
        mutating func passOver() {
            dead += 1
            guard dead > transfers.count - dead + 16 else { return }
            transfers = Queue(transfers.all.filter(\.admission.isWaiting))
            dead = 0
        }
    }
#endif
