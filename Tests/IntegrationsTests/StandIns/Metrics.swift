// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// What the examples use of swift-metrics 2.10, and no more. Values are kept, so that they can be looked at.
internal import Synchronization

public final class Timer {
    private let name: String
    public init(label: String, dimensions: [(String, String)] = []) { name = Recorded.name(label, dimensions) }
    public func recordSeconds<Value: BinaryFloatingPoint>(_ duration: Value) { Recorded.add("\(name) \(duration >= 0)") }
}

public final class Recorder {
    private let name: String
    public init(label: String, dimensions: [(String, String)] = [], aggregate: Bool = true) {
        name = Recorded.name(label, dimensions)
    }
    public func record<Value: BinaryInteger>(_ value: Value) { Recorded.add("\(name) \(value)") }
}

/// No part of swift-metrics.
public enum Recorded {
    private static let values = Mutex<[String]>([])
    /// The names of the dimensions that each metric had first.
    private static let names = Mutex<[String: [String]]>([:])
    static func name(_ label: String, _ dimensions: [(String, String)]) -> String {
        let own = dimensions.map(\.0)
        let first = names.withLock { names -> [String] in
            let first = names[label] ?? own
            names[label] = first
            return first
        }
        // As swift-prometheus has it.
        precondition(own == first, "\(label) has the dimensions \(own), and had \(first)")
        return "\(label){\(dimensions.map { "\($0)=\($1)" }.joined(separator: ","))}"
    }
    static func add(_ value: String) { values.withLock { $0.append(value) } }
    public static func take() -> [String] {
        values.withLock { values in
            defer { values = [] }
            return values
        }
    }
}
