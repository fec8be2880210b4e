import ForeignText
import Foundation
import Fuzzing

/// Runs libFuzzer on the parser that the first argument names, with the other arguments; without any it lists the parsers.
@main struct Fuzzer {
    static func main() {
        guard CommandLine.arguments.count > 1 else {
            print(ForeignParser.allCases.map(\.rawValue).joined(separator: "\n"))
            return
        }
        guard let parser = ForeignParser(rawValue: CommandLine.arguments[1]) else {
            print("There is no parser \(CommandLine.arguments[1]).")
            exit(2)
        }
        // The name of the program stays.
        fuzz(Array(CommandLine.arguments.prefix(1) + CommandLine.arguments.dropFirst(2))) { bytes in
            parser.read(bytes)
            parser.check(bytes)
        }
    }
}
