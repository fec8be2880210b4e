/// Checksums of a body's bytes, against damage and not against anybody: one for each 64 KiB of what was written in one go.
struct BodySums {
    /// Bytes that were written one after the other.
    struct Run: Equatable {
        let start: Int64
        var end: Int64
        var sums: [UInt64] = []
    }

    static let blockSize = 64 << 10
    private(set) var runs: [Run] = []

    init(_ run: Run) { add(run) }

    /// Nil when the bytes aren't what ``encoded`` gave.
    init?(_ encoded: [UInt8]) {
        var numbers = encoded.withUnsafeBytes { bytes in
            stride(from: 0, through: bytes.count - 8, by: 8)
                .map { UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: $0, as: UInt64.self)) }[...]
        }
        while let start = numbers.popFirst(), let end = numbers.popFirst() {
            guard start < end, end <= UInt64(Int64.max), (end - start - 1) / UInt64(Self.blockSize) < UInt64(numbers.count) else {
                return nil
            }
            let count = Int((end - start - 1) / UInt64(Self.blockSize)) + 1
            runs.append(Run(start: Int64(start), end: Int64(end), sums: Array(numbers.prefix(count))))
            numbers = numbers.dropFirst(count)
        }
    }

    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        for run in runs {
            for number in [UInt64(run.start), UInt64(run.end)] + run.sums {
                withUnsafeBytes(of: number.littleEndian) { bytes += $0 }
            }
        }
        return bytes
    }

    /// Adds what was written last, which is what stands where it overlaps others.
    mutating func add(_ run: Run) {
        runs.removeAll { run.start <= $0.start && $0.end <= run.end }
        if run.start < run.end { runs.append(run) }
    }

    /// Reads the blocks that a range lies in.
    ///
    /// - Parameters:
    ///   - read: Reads so many bytes at an offset; fewer when there aren't as many.
    ///   - take: Gets the bytes of the range, in order.
    /// - Returns: Whether all of them are as they were written.
    func verify(
        _ range: Range<Int64>, of id: UInt64, reading read: (_ offset: Int64, _ count: Int) throws -> [UInt8],
        _ take: (ArraySlice<UInt8>) -> Void
    ) rethrows -> Bool {
        var place = range.lowerBound
        while place < range.upperBound {
            guard let run = runs.last(where: { $0.start <= place && place < $0.end }) else { return false }
            let block = Int((place - run.start) / Int64(Self.blockSize))
            let start = run.start + Int64(block) * Int64(Self.blockSize)
            let end = min(run.end, start + Int64(Self.blockSize))
            let bytes = try read(start, Int(end - start))
            guard Int64(bytes.count) == end - start, Self.sum(bytes, id, at: start) == run.sums[block] else { return false }
            take(bytes[Int(place - start)..<Int(min(end, range.upperBound) - start)])
            place = end
        }
        return true
    }

    /// The checksum of bytes at a place of an entry: sums of words, and sums of those, in eight lanes (after Fletcher), as fast as memory
    /// is read.
    static func sum(_ bytes: some Sequence<UInt8>, _ id: UInt64, at place: Int64 = 0) -> UInt64 {
        bytes.withContiguousStorageIfAvailable { sum(UnsafeRawBufferPointer($0), id, place) } ?? sum(Array(bytes), id, at: place)
    }

    private static func sum(_ bytes: UnsafeRawBufferPointer, _ id: UInt64, _ place: Int64) -> UInt64 {
        var lanes = SIMD8<UInt64>(repeating: id)
        var sums = lanes
        var offset = 0
        while offset + 64 <= bytes.count {
            lanes &+= bytes.loadUnaligned(fromByteOffset: offset, as: SIMD8<UInt64>.self)
            sums &+= lanes
            offset += 64
        }
        var rest = SIMD8<UInt64>()
        withUnsafeMutableBytes(of: &rest) { $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[offset...])) }
        lanes &+= rest
        sums &+= lanes
        var sum = id ^ UInt64(bitPattern: place) ^ UInt64(bytes.count) << 40
        for lane in 0..<8 {
            for number in [lanes[lane], sums[lane]] {
                sum = (sum ^ number) &* 0x9E37_79B9_7F4A_7C15
                sum ^= sum >> 29
            }
        }
        return sum
    }
}

/// Makes the checksums of bytes that arrive in pieces of any size.
struct RunningSums {
    private let id: UInt64
    private var run: BodySums.Run
    private var rest: [UInt8] = []

    init(_ id: UInt64, at offset: Int64) {
        self.id = id
        run = BodySums.Run(start: offset, end: offset)
    }

    mutating func add(_ bytes: [UInt8]) {
        var bytes = bytes[...]
        while !bytes.isEmpty {
            let piece = bytes.prefix(BodySums.blockSize - rest.count)
            bytes = bytes.dropFirst(piece.count)
            guard !rest.isEmpty || piece.count < BodySums.blockSize else {
                close(piece)
                continue
            }
            rest += piece
            if rest.count == BodySums.blockSize { closeRest() }
        }
    }

    /// All that was added.
    mutating func finish() -> BodySums.Run {
        if !rest.isEmpty { closeRest() }
        return run
    }

    private mutating func closeRest() {
        close(rest[...])
        rest.removeAll(keepingCapacity: true)
    }

    private mutating func close(_ block: ArraySlice<UInt8>) {
        run.sums.append(BodySums.sum(block, id, at: run.end))
        run.end += Int64(block.count)
    }
}
