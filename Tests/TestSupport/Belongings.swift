package import Foundation
import Interception

/// What a test has made that has to be gone when it ends.
package final class Belongings: Sendable {
    private struct Belonging: Sendable {
        let name: String
        let isThere: @Sendable () -> Bool
    }

    /// Those of the test that runs; nil where nobody looks after them.
    @TaskLocal package static var current: Belongings?

    private let all = Locked<[Belonging]>([])
    private let excused = Locked<Set<String>>([])

    package init() {}

    /// Notes an object, which isn't kept.
    package func add(_ object: any AnyObject & Sendable) {
        // A description would be made by code under test.
        add("\(type(of: object))") { [weak object] in object != nil }
    }

    /// Notes a file or a folder, which need not be there yet.
    package func add(_ file: URL) {
        add(file.lastPathComponent) { FileManager.default.fileExists(atPath: file.path) }
    }

    private func add(_ name: String, _ isThere: @escaping @Sendable () -> Bool) {
        all.withLock { $0.append(Belonging(name: name, isThere: isThere)) }
    }

    /// Overlooks objects of a type, for what isn't this package's to mend.
    package func excuse(_ type: String) { excused.withLock { _ = $0.insert(type) } }

    /// The names of what is still there, after everything has had some time to go.
    ///
    /// Threads and tasks end a moment after the test that they worked for; what stays for good makes the wait last as long as it may.
    package func left(patience: Duration) async -> [String] {
        let excused = excused.withLock { $0 }
        let all = all.withLock { $0 }.filter { !excused.contains($0.name) }
        // In a task of its own, since that of the test may be cancelled.
        let left = Task.detached {
            var left = all
            await eventually(within: patience) {
                left.removeAll { !$0.isThere() }
                return left.isEmpty
            }
            return left
        }
        return await left.value.map(\.name)
    }
}

/// The path of a file or folder in the temporary folder that the test makes and removes again.
package func temporaryPath(_ name: String = "midstream-\(UUID().uuidString)") -> URL {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(name)
    Belongings.current?.add(url)
    return url
}
