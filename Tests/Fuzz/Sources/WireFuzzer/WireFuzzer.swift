import Fuzzing

/// Runs libFuzzer on what the wire reads, with nothing else in the process: after each input libFuzzer looks at a counter for each branch of
/// the program, which takes longer than a parser. The first argument is `wire-frames` or `wire-response`.
@main struct WireFuzzer {
    /// What the grammar says takes ten times as long to find out.
    private static let inputsPerCheck = 16

    static func main() {
        #if os(Linux)
            let arguments = Array(CommandLine.arguments.prefix(1) + CommandLine.arguments.dropFirst(2))
            guard CommandLine.arguments.dropFirst().first == "wire-response" else { fuzz(arguments, WireFrames.read) }
            var count = 0
            fuzz(arguments) { bytes in
                WireResponses.read(bytes)
                if count.isMultiple(of: inputsPerCheck) { WireResponses.check(bytes) }
                count += 1
            }
        #endif
    }
}
