internal import Foundation

/// Why there is no server, or none any more, in a sentence.
package struct ServerFailure: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }

    /// That of a system call, told by `errno`.
    static func system(_ call: String) -> Self { Self("\(call) failed: \(String(cString: strerror(errno)))") }
}
