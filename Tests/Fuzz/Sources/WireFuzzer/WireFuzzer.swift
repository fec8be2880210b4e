import Fuzzing

/// Runs libFuzzer on the wire's parser of responses, with nothing else in the process: after each input libFuzzer looks at a counter for
/// each branch of the program, which takes longer than the parser.
@main struct WireFuzzer {
    /// What the grammar says takes ten times as long to find out.
    private static let inputsPerCheck = 16

    static func main() {
        #if os(Linux)
            var count = 0
            fuzz(CommandLine.arguments) { bytes in
                WireResponses.read(bytes)
                if count.isMultiple(of: inputsPerCheck) { WireResponses.check(bytes) }
                count += 1
            }
        #endif
    }
}
