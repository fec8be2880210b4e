import Interception

/// What happened, in order, noted by whoever took part.
package struct Steps: Sendable {
    private let noted = Locked<[String]>([])

    package init() {}

    package var all: [String] { noted.withLock { $0 } }

    package func note(_ step: String) { noted.withLock { $0.append(step) } }
}
