internal import Foundation
internal import MidstreamCore

/// Where tasks write what they have to say. See `logger` and `logInConsole`.
public struct TaskLogger: Sendable {
    private let write: @Sendable (String) -> Void

    /// Makes a logger of a closure, which may be called from any task.
    public init(_ write: @escaping @Sendable (String) -> Void) { self.write = write }

    /// Writes a message.
    public func log(_ message: String) { write(message) }

    /// Writes to standard error, a line for each message. The default.
    public static let console = TaskLogger { message in
        // The form that throws: the other one raises an exception, which ends the process, when nobody reads any more.
        try? FileHandle.standardError.write(contentsOf: Data("\(message)\n".utf8))
    }

    /// Writes nothing.
    public static let silent = TaskLogger { _ in }
}

extension TaskEnvironmentValues {
    private enum LoggerKey: TaskEnvironmentKey {
        static let defaultValue = TaskLogger.console
    }

    /// Where tasks write what they have to say; standard error by default.
    public var logger: TaskLogger {
        get { self[LoggerKey.self] }
        set { self[LoggerKey.self] = newValue }
    }
}
