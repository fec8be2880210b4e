// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// What the examples use of swift-log 1.14, and no more. Lines are kept, so that they can be looked at.
internal import Synchronization

public struct Logger: Sendable {
    public enum Level: String, Sendable { case trace, debug, info, notice, warning, error, critical }
    public struct Message: ExpressibleByStringInterpolation, Sendable, CustomStringConvertible {
        public let description: String
        public init(stringLiteral value: String) { description = value }
    }
    public enum MetadataValue: ExpressibleByStringInterpolation, Sendable, CustomStringConvertible {
        case string(String)
        public init(stringLiteral value: String) { self = .string(value) }
        public var description: String {
            switch self {
            case .string(let text): text
            }
        }
    }
    public typealias Metadata = [String: MetadataValue]

    @TaskLocal public static var current = Logger(label: "")
    public let label: String
    public var logLevel = Level.trace

    public init(label: String) { self.label = label }

    public func log(
        level: Level, _ message: @autoclosure () -> Message, metadata: @autoclosure () -> Metadata? = nil,
        source: @autoclosure () -> String? = nil, file: String = #fileID, function: String = #function, line: UInt = #line
    ) {
        LoggerLines.add(
            "\(label) \(level) \(message()) \(metadata()?.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" } ?? [])")
    }
}

/// No part of swift-log.
public enum LoggerLines {
    private static let lines = Mutex<[String]>([])
    public static func add(_ line: String) { lines.withLock { $0.append(line) } }
    public static func take() -> [String] {
        lines.withLock { lines in
            defer { lines = [] }
            return lines
        }
    }
}
