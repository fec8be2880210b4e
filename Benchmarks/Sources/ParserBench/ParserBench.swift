import ForeignText

/// Prints how long each parser of foreign text takes for its worst inputs of one size: 1 MB, or the kilobytes of the argument.
@main struct ParserBench {
    static func main() {
        let size = (CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 1_000) * 1_000
        for (parser, inputs) in WorstInputs.all {
            let worst = inputs.map { input in (input.name, time(parser, input.bytes(size))) }.max { $0.1 < $1.1 }
            guard let (name, duration) = worst else { continue }
            let hundredths = Int(duration / .microseconds(10))
            let fraction = hundredths % 100
            let figure = "\(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction) ms"
            print(pad(parser.rawValue, 16), String(repeating: " ", count: max(0, 12 - figure.count)) + figure, " \(name)")
        }
    }

    /// The least of some runs, or of one where that takes long already.
    private static func time(_ parser: ForeignParser, _ bytes: [UInt8]) -> Duration {
        let clock = ContinuousClock()
        var least = clock.measure { parser.read(bytes) }
        for _ in 0..<4 where least < .milliseconds(200) { least = min(least, clock.measure { parser.read(bytes) }) }
        return least
    }

    private static func pad(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
