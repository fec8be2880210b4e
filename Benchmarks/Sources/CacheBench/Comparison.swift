import Measuring

/// What work takes with a cache, as a share of what it takes without: the median of what some rounds say, in each of which both are done one
/// directly after the other, so that both have the same of the machine.
struct Comparison: CustomStringConvertible {
    private let time: Double
    private let processor: Double
    /// The processor time with a cache.
    let processorSeconds: Double

    init(rounds: Int, _ work: (_ isCached: Bool) async throws -> Void) async throws {
        var (times, processors, seconds) = ([Double](), [Double](), [Double]())
        // The first of all finds nothing prepared.
        try await work(false)
        for round in 0..<rounds {
            var spent = [Bool: (time: Double, processor: Double)]()
            // Who comes second has no advantage.
            for isCached in round % 2 == 0 ? [false, true] : [true, false] {
                let (start, processor) = (ContinuousClock.now, Usage.processorSeconds)
                try await work(isCached)
                let duration: Duration = ContinuousClock.now - start
                spent[isCached] = (duration / .seconds(1), Usage.processorSeconds - processor)
            }
            guard let cached = spent[true], let plain = spent[false] else { continue }
            times.append(cached.time / plain.time)
            processors.append(cached.processor / plain.processor)
            seconds.append(cached.processor)
        }
        (time, processor, processorSeconds) = (times.median, processors.median, seconds.median)
    }

    var description: String {
        "\(Self.percent(time)) of the time and \(Self.percent(processor)) of the processor time without a cache"
    }

    /// The processor time alone, as a multiple.
    var processorFactor: Double { processor }

    static func percent(_ share: Double) -> String { "\(Int((share * 100).rounded())) %" }
}
