import Foundation

/// Where output goes: answers to standard output, everything about them to standard error.
enum Terminal {
    static func print(_ text: String) { write(Array((text + "\n").utf8), to: .standardOutput) }
    static func printError(_ text: String) { write(Array((text + "\n").utf8), to: .standardError) }

    static func write(_ bytes: [UInt8], to file: FileHandle) {
        // A reader that has gone away (`midst get … | head`) ends the output, not the program with an error.
        do { try file.write(contentsOf: Data(bytes)) } catch { exit(0) }
    }
}
