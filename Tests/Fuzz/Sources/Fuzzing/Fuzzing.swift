import Foundation
import LibFuzzer

/// Set before the first input, since libFuzzer's callback can't carry anything.
nonisolated(unsafe) private var reader: ([UInt8]) -> Void = { _ in }

/// Has libFuzzer call a function with the inputs that it makes up, and ends the process.
///
/// - Parameter arguments: libFuzzer's, with the program's name before them.
public func fuzz(_ arguments: [String], _ read: @escaping ([UInt8]) -> Void) -> Never {
    reader = read
    var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) }
    var count = CInt(words.count)
    words.append(nil)
    let code = words.withUnsafeMutableBufferPointer { words in
        var start = words.baseAddress
        return LLVMFuzzerRunDriver(&count, &start) { bytes, count in
            reader(Array(UnsafeBufferPointer(start: bytes, count: count)))
            return 0
        }
    }
    exit(code)
}
