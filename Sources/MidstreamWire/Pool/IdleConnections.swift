#if os(Linux)
    /// The connections that have no transfer, by their age: a list through the connections themselves, so that any leaves it at once.
    ///
    /// It doesn't keep them; ``ConnectionPool`` does.
    struct IdleConnections {
        private(set) unowned var oldest: Connection?
        private unowned var newest: Connection?
        private(set) var count = 0

        mutating func append(_ connection: Connection) {
            connection.older = newest
            newest?.newer = connection
            newest = connection
            if oldest == nil { oldest = connection }
            count += 1
        }

        mutating func remove(_ connection: Connection) {
            if oldest === connection { oldest = connection.newer }
            if newest === connection { newest = connection.older }
            connection.older?.newer = connection.newer
            connection.newer?.older = connection.older
            connection.older = nil
            connection.newer = nil
            count -= 1
        }
    }
#endif
