import ForeignText

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Prints how long each parser of foreign text takes for its worst inputs of one size: 1 MB, or the kilobytes of the first argument.
/// Further arguments name the parsers; all by default. Ends with 1 when one takes far too long.
@main struct ParserBench {
    /// What a parser may take for a megabyte.
    private static let allowed = Duration.milliseconds(20)
    /// How many times that is an error. Older machines, and those whose cores and caches belong to others, too, are up to twice as slow as
    /// that on which the figure was met. A parser that looks at a byte more often the more there are takes hundreds of times as long.
    private static let tolerance = 3.0

    static func main() {
        let size = (CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 1_000) * 1_000
        let allowed = Self.allowed * (Double(size) / 1_000_000)
        var slow: [String] = []
        let wanted = CommandLine.arguments.dropFirst(2)
        for (parser, inputs) in WorstInputs.all where wanted.isEmpty || wanted.contains(parser.rawValue) {
            let worst = inputs.map { input in (input.name, time(parser, input.bytes(size))) }.max { $0.1 < $1.1 }
            guard let (name, duration) = worst else { continue }
            let mark = duration > allowed ? "  more than \(milliseconds(allowed))" : ""
            print(pad(parser.rawValue, 16), pad(left: milliseconds(duration), 12), " \(name)\(mark)")
            if duration > allowed * tolerance { slow.append(parser.rawValue) }
        }
        guard !slow.isEmpty else { return }
        print("More than \(Int(tolerance)) times \(milliseconds(allowed)): \(slow.joined(separator: ", "))")
        exit(1)
    }

    /// The least processor time of some runs, or of one where that takes long already.
    private static func time(_ parser: ForeignParser, _ bytes: [UInt8]) -> Duration {
        var least = Duration.seconds(1_000_000)
        for _ in 0..<5 {
            let start = processorTime()
            parser.read(bytes)
            least = min(least, processorTime() - start)
            if least > .milliseconds(200) { break }
        }
        return least
    }

    private static func processorTime() -> Duration {
        var time = timespec()
        // The whole process's: some read in a task.
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    private static func milliseconds(_ duration: Duration) -> String {
        let hundredths = Int(duration / .microseconds(10))
        let fraction = hundredths % 100
        return "\(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction) ms"
    }

    private static func pad(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    private static func pad(left text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
}
