#if os(Linux)
    import Glibc
    internal import MidstreamLoop

    /// The memory into which curl's callbacks write a response, without objects, reference counts or collections.
    ///
    /// It stays at one address as long as its handle lives, and keeps its memory for the next response.
    struct ResponseBuffer {
        /// The largest body that is kept here: what most are smaller than, and what curl hands over at a time.
        static let bodyLimit = 16 << 10
        /// More than this isn't kept for the next response.
        private static let keptMemory = 16 << 10

        /// The handle to which it belongs, which outlives it.
        unowned(unsafe) let handle: EasyHandle
        /// Where the time is that counts for ``lastActivity``; nil as long as nothing is received.
        private var clock: UnsafePointer<UInt64>?
        /// When a piece of a body was last taken in.
        private(set) var lastActivity: UInt64 = 0

        private var headMemory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        private var headCount = 0
        private var bodyMemory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        private var bodyCount = 0
        /// How much of the body may come here; beyond it each piece goes to the handle's user.
        private var bodyRoom = 0
        /// Whether the lines that come are those of a head, and not of trailers.
        private(set) var isTakingHead = true

        init(_ handle: EasyHandle) { self.handle = handle }

        mutating func deallocate() {
            headMemory.deallocate()
            bodyMemory.deallocate()
        }

        /// Forgets the last response.
        mutating func begin(clock: UnsafePointer<UInt64>) {
            self.clock = clock
            lastActivity = 0
            headCount = 0
            isTakingHead = true
            bodyCount = 0
            bodyRoom = 0
            if headMemory.count > Self.keptMemory { Self.resize(&headMemory, to: 0) }
        }

        // MARK: Heads

        /// The lines of the head that has come so far, a line feed at the end of each and nowhere else.
        var head: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: headMemory[..<headCount]) }

        /// Takes a line; false when the head gets too large by it.
        mutating func append(line: UnsafeRawPointer, _ count: Int) -> Bool {
            guard headCount + count < HeadReader.sizeLimit else { return false }
            if headCount + count >= headMemory.count {
                Self.resize(&headMemory, to: min(max(1 << 10, 2 * (headCount + count)), HeadReader.sizeLimit))
            }
            guard let end = headMemory.baseAddress?.advanced(by: headCount) else { return false }
            // Curl ends each line with its only line feed; a line that it made of something else must not become several.
            if memccpy(end, line, 10, count) != end + count {
                end.copyMemory(from: line, byteCount: count)
                let line = UnsafeMutableRawBufferPointer(start: end, count: count + 1)
                for place in 0..<count where line[place] == 10 { line[place] = 32 }
                line[count] = 10
                headCount += 1
            }
            headCount += count
            return true
        }

        /// Another head follows.
        mutating func beginNextHead() { headCount = 0 }

        /// No other head follows. The memory holds the lines of the last one until ``begin(clock:)``.
        mutating func endHeads() { isTakingHead = false }

        // MARK: Bodies

        /// What has come of the body.
        var body: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bodyMemory[..<bodyCount]) }

        /// Has the body come here as long as it isn't larger than this.
        mutating func openBody(room: Int) { bodyRoom = min(room, Self.bodyLimit) }

        /// Has what follows of the body go to the user, and forgets what has come.
        mutating func closeBody() {
            bodyRoom = 0
            bodyCount = 0
        }

        /// Takes a piece; false when it has to go to the user.
        mutating func append(body: UnsafeRawPointer, _ count: Int) -> Bool {
            guard count <= bodyRoom - bodyCount else { return false }
            if bodyCount + count > bodyMemory.count {
                Self.resize(&bodyMemory, to: min(max(2 << 10, 2 * bodyMemory.count, bodyCount + count), Self.bodyLimit))
            }
            guard let memory = bodyMemory.baseAddress else { return count == 0 }
            (memory + bodyCount).copyMemory(from: body, byteCount: count)
            bodyCount += count
            if let clock { lastActivity = clock.pointee }
            return true
        }

        private static func resize(_ memory: inout UnsafeMutableRawBufferPointer, to count: Int) {
            let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 1)
            larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[..<min(memory.count, count)]))
            memory.deallocate()
            memory = larger
        }
    }
#endif
