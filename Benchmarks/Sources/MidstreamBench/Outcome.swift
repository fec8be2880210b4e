import Measuring

/// What a run has found out; prints itself as a line of JSON, the same as the baseline's.
struct Outcome {
    let options: Options
    let before: Reading
    let after: Reading
    /// Of each request, in nanoseconds; empty where single ones are too short to be timed.
    var latencies: [UInt32] = []

    private func percentile(_ share: Double, of sorted: [UInt32]) -> String {
        guard let last = sorted.last else { return "null" }
        let index = Int(share * Double(sorted.count))
        return "\(Double(index < sorted.count ? sorted[index] : last) / 1000)"
    }

    var line: String {
        let sorted = latencies.sorted()
        let seconds = Double(after.nanoseconds - before.nanoseconds) / 1e9
        var allocations = "null"
        if let first = before.allocations, let last = after.allocations {
            allocations = "\(Double(last - first) / Double(options.requests))"
        }
        return """
            {"name": "\(options.mode.rawValue)", "protocol": "\(options.isHTTP2 ? "http2" : "http1")", \
            "inFlight": \(options.inFlight), "requests": \(options.requests), "seconds": \(seconds), \
            "cpuSeconds": \(after.cpuSeconds - before.cpuSeconds), "peakKiB": \(ResidentMemory.peak >> 10), \
            "allocations": \(allocations), "p50us": \(percentile(0.5, of: sorted)), "p99us": \(percentile(0.99, of: sorted))}
            """
    }
}
