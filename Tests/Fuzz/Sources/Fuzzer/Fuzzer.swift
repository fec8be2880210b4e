import ForeignText
import Foundation
import LibFuzzer

/// Runs libFuzzer on the parser that the first argument names, with the other arguments; without any it lists the parsers.
@main struct Fuzzer {
    /// Set before the first input, since libFuzzer's callback can't carry anything.
    nonisolated(unsafe) private static var parser = ForeignParser.url

    static func main() {
        guard CommandLine.arguments.count > 1 else {
            print(ForeignParser.allCases.map(\.rawValue).joined(separator: "\n"))
            return
        }
        guard let named = ForeignParser(rawValue: CommandLine.arguments[1]) else {
            print("There is no parser \(CommandLine.arguments[1]).")
            exit(2)
        }
        parser = named
        // The name of the program stays.
        let arguments = CommandLine.arguments.prefix(1) + CommandLine.arguments.dropFirst(2)
        var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) }
        var count = CInt(words.count)
        words.append(nil)
        let code = words.withUnsafeMutableBufferPointer { words in
            var start = words.baseAddress
            return LLVMFuzzerRunDriver(&count, &start) { bytes, count in
                let bytes = Array(UnsafeBufferPointer(start: bytes, count: count))
                Fuzzer.parser.read(bytes)
                Fuzzer.parser.check(bytes)
                return 0
            }
        }
        exit(code)
    }
}
