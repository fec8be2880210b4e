internal import MidstreamPlatform

/// The payload of a message that is coming.
///
/// An array that grows is there twice while it is copied. So all but the beginning of what is long lies in blocks that the system gets back
/// one by one while they become one array: a message takes little more than its size, and never more than what has come of it.
struct MessagePayload: ~Copyable {
    private var beginning: [UInt8] = []
    private var blocks: [Block] = []
    private(set) var count = 0

    /// What is kept for it.
    var room: Int { beginning.capacity + blocks.count * Block.size }

    /// Appends bytes, of which so many are expected to follow; false when there is no memory for them.
    mutating func append(_ bytes: ArraySlice<UInt8>, before rest: Int) -> Bool {
        let known = count + bytes.count
        count = known
        guard known > Block.size else {
            // The rest is what the sender says. And many small frames would have it copied for each.
            let room = min(known + rest, 4 * known, Block.size)
            if room > beginning.capacity, room >= 2 * beginning.count { beginning.reserveCapacity(room) }
            beginning += bytes
            return true
        }
        return bytes.withUnsafeBytes { bytes in
            var rest = bytes
            while !rest.isEmpty {
                if blocks.last?.isFull ?? true {
                    guard let block = Block() else { return false }
                    blocks.append(block)
                }
                blocks.last?.take(&rest)
            }
            return true
        }
    }

    /// The whole, of which nothing is kept.
    mutating func take() -> [UInt8] {
        guard !blocks.isEmpty else { return takeBeginning() }
        return [UInt8](unsafeUninitializedCapacity: count) { bytes, count in
            count = move(to: UnsafeMutableRawBufferPointer(bytes))
        }
    }

    /// The whole as a text; it is known to be UTF-8.
    mutating func takeText() -> String {
        guard !blocks.isEmpty else { return String(decoding: takeBeginning(), as: UTF8.self) }
        return String(unsafeUninitializedCapacity: count) { move(to: UnsafeMutableRawBufferPointer($0)) }
    }

    private mutating func takeBeginning() -> [UInt8] {
        defer { (beginning, count) = ([], 0) }
        return beginning
    }

    /// Gives each block back once it is copied; returns how many bytes there were.
    private mutating func move(to bytes: UnsafeMutableRawBufferPointer) -> Int {
        defer { count = 0 }
        bytes.copyBytes(from: beginning)
        var place = beginning.count
        beginning = []
        blocks.reverse()
        while let block = blocks.popLast() {
            UnsafeMutableRawBufferPointer(rebasing: bytes[place...]).copyMemory(from: block.content)
            place += block.content.count
        }
        return place
    }

    /// Memory of the system's: what an allocator gets back it may keep.
    private final class Block {
        static let size = 256 << 10

        private let start: UnsafeMutableRawPointer
        private var used = 0

        init?() {
            let start = mmap(nil, Self.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0)
            guard let start, start != MAP_FAILED else { return nil }
            self.start = start
        }

        deinit { munmap(start, Self.size) }

        var isFull: Bool { used == Self.size }
        var content: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: used) }

        /// Takes what there is room for off the bytes.
        func take(_ bytes: inout UnsafeRawBufferPointer) {
            let count = min(bytes.count, Self.size - used)
            UnsafeMutableRawBufferPointer(start: start + used, count: count)
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
            used += count
            bytes = UnsafeRawBufferPointer(rebasing: bytes[count...])
        }
    }
}
