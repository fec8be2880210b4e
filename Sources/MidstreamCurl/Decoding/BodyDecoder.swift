#if Curl && os(Linux)
    /// Undoes the content codings of one body, in steps whose output is bounded, and watches how much it grows.
    ///
    /// Touched only on the loop's thread.
    final class BodyDecoder {
        /// How many codings may lie over each other. Nobody applies a third.
        private static let mostCodings = 2
        /// Up to here a body may grow by any ratio.
        private static let freeGrowth: Int64 = 1 << 20
        /// How much of a first coding's output waits for the second.
        private static let middleSize = 16 << 10

        /// In the order in which they have to be undone.
        private let stages: [any ContentDecoder]
        private let ratio: Int64?
        private var received: Int64 = 0
        private var produced: [Int64] = [0, 0]
        private var middle: UnsafeMutableRawBufferPointer?
        private var waiting = UnsafeRawBufferPointer(start: nil, count: 0)

        /// - Parameters:
        ///   - codings: Those of the `Content-Encoding`, in its order.
        ///   - ratio: How many times as large as received the body may get; nil: no limit.
        init(_ codings: [ContentCoding], ratio: Int?) throws(DecodingFault) {
            guard codings.count <= Self.mostCodings else { throw .tooManyCodings }
            var stages: [any ContentDecoder] = []
            for coding in codings.reversed() {
                guard let decoder = coding.makeDecoder() else { throw .noMemory }
                stages.append(decoder)
            }
            self.stages = stages
            self.ratio = ratio.map { Int64(max(1, $0)) }
            if stages.count > 1 { middle = .allocate(byteCount: Self.middleSize, alignment: 1) }
        }

        deinit { middle?.deallocate() }

        /// Whether nothing is left to be done before more comes in.
        var isHungry: Bool { waiting.isEmpty && !stages.contains { $0.holdsOutput } }

        /// Whether the body may end here.
        var isComplete: Bool { waiting.isEmpty && stages.allSatisfy { $0.isComplete } }

        /// One step: takes from the front of `input` and fills `output` from its front.
        ///
        /// - Returns: How many bytes of `output` are filled, and how many were made in all.
        func decode(
            _ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
        ) throws(DecodingFault) -> (count: Int, work: Int) {
            guard let middle, let first = stages.first, let last = stages.last else {
                let count = try run(0, &input, into: output, isFirst: true)
                return (count, count)
            }
            var work = 0
            if waiting.isEmpty, !last.holdsOutput, !input.isEmpty || first.holdsOutput {
                work = try run(0, &input, into: middle, isFirst: true)
                waiting = UnsafeRawBufferPointer(rebasing: middle[..<work])
            }
            guard !waiting.isEmpty || last.holdsOutput else { return (0, work) }
            let count = try run(1, &waiting, into: output, isFirst: false)
            return (count, work + count)
        }

        private func run(
            _ stage: Int, _ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, isFirst: Bool
        ) throws(DecodingFault) -> Int {
            let before = input.count
            let count = try stages[stage].decode(&input, into: output)
            if isFirst { received += Int64(before - input.count) }
            produced[stage] += Int64(count)
            if let ratio, produced[stage] > Self.freeGrowth {
                let (allowed, overflow) = received.multipliedReportingOverflow(by: ratio)
                guard overflow || produced[stage] <= allowed else { throw .tooLarge }
            }
            return count
        }
    }
#endif
