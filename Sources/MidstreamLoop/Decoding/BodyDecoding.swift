#if os(Linux)
    /// Undoes the content codings of one body, in steps whose output is bounded, and watches how much it grows.
    ///
    /// Touched only on the loop's thread.
    package final class BodyDecoding {
        /// How many codings may lie over each other. Nobody applies a third.
        private static let mostCodings = 2
        /// Up to here a body may grow by any ratio.
        private static let freeGrowth: Int64 = 16 << 20
        /// What a step counts beside the bytes that go through it: a member without content takes as long as some hundred bytes.
        private static let stepWork = 256
        /// How much of a first coding's output waits for the second.
        private static let middleSize = 16 << 10

        /// In the order in which they have to be undone.
        private let stages: [any ContentDecoder]
        private let ratio: Int64?
        private var received: Int64 = 0
        /// The bytes that are to come in all, where that was said.
        private let announced: Int64
        private var produced: [Int64] = [0, 0]
        private var middle: UnsafeMutableRawBufferPointer?
        private var waiting = UnsafeRawBufferPointer(start: nil, count: 0)

        /// - Parameters:
        ///   - codings: Those of the `Content-Encoding`, in its order.
        ///   - ratio: How many times as large as encoded the body may get; nil: no limit.
        ///   - length: The bytes of the encoded body, if they are known.
        package init(_ codings: [ContentCoding], ratio: Int?, length: Int64? = nil) throws(DecodingFault) {
            guard codings.count <= Self.mostCodings else { throw .tooManyCodings }
            var stages: [any ContentDecoder] = []
            for coding in codings.reversed() {
                guard let decoder = coding.makeDecoder() else { throw .noMemory }
                stages.append(decoder)
            }
            self.stages = stages
            self.ratio = ratio.map { Int64(max(1, $0)) }
            announced = length ?? 0
            if stages.count > 1 { middle = .allocate(byteCount: Self.middleSize, alignment: 1) }
        }

        deinit { middle?.deallocate() }

        /// Whether nothing is left to be done before more comes in.
        package var isHungry: Bool { waiting.isEmpty && !stages.contains { $0.holdsOutput } }

        /// Whether the body may end here.
        package var isComplete: Bool { waiting.isEmpty && stages.allSatisfy { $0.isComplete } }

        /// One step: takes from the front of `input` and fills `output` from its front.
        ///
        /// - Returns: How many bytes of `output` are filled, and how many went in and out in all, as a measure of what it has cost.
        package func decode(
            _ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
        ) throws(DecodingFault) -> (count: Int, work: Int) {
            let available = input.count
            guard let middle, let first = stages.first, let last = stages.last else {
                let count = try run(0, &input, into: output)
                return (count, count + available - input.count + Self.stepWork)
            }
            var work = Self.stepWork
            if waiting.isEmpty, !last.holdsOutput, !input.isEmpty || first.holdsOutput {
                let count = try run(0, &input, into: middle)
                waiting = UnsafeRawBufferPointer(rebasing: middle[..<count])
                work += count + available - input.count
            }
            guard !waiting.isEmpty || last.holdsOutput else { return (0, work) }
            let count = try run(1, &waiting, into: output)
            return (count, work + count)
        }

        private func run(
            _ stage: Int, _ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
        ) throws(DecodingFault) -> Int {
            let before = input.count
            let count = try stages[stage].decode(&input, into: output)
            if stage == 0 { received += Int64(before - input.count) }
            produced[stage] += Int64(count)
            if let ratio, produced[stage] > Self.freeGrowth {
                let (allowed, overflow) = max(received, announced).multipliedReportingOverflow(by: ratio)
                guard overflow || produced[stage] <= allowed else { throw .tooLarge }
            }
            return count
        }
    }
#endif
