internal import MidstreamCore

extension Modifiers {
    /// Tells how much of the bodies has gone over the wire, of all data tasks before it.
    public struct Progress<Element: Sendable>: RequestTaskModifier {
        private let observer: TransferObserver

        /// Makes the modifier.
        ///
        /// - Parameters:
        ///   - watched: Which bodies; both by default.
        ///   - report: Called for each piece of a body, one after the other, by whoever moves the bytes; so it mustn't wait. Each
        ///     attempt and each redirect begins again at its first byte.
        public init(
            _ watched: TransferProgress.Watched = .both, _ report: @escaping @Sendable (TransferProgress) -> Void
        ) {
            observer = TransferObserver(watched, report)
        }

        /// Gives the result as it is.
        ///
        /// - Throws: What the task throws.
        public func body(_ task: AnyRequestTask<Element>) async throws -> Element {
            var values = TaskEnvironmentValues.current
            values[TransferObserverKey.self] = observer.and(values[TransferObserverKey.self])
            return try await TaskEnvironmentValues.$current.withValue(values) { try await task.result() }
        }
    }
}

/// Who hears of the bytes that data tasks send and receive.
enum TransferObserverKey: TaskEnvironmentKey {
    static var defaultValue: TransferObserver? { nil }
}

extension RequestTask {
    /// Tells how much of the bodies has gone over the wire.
    ///
    /// ```swift
    /// client.put("films/1", body: .file(film)).progress(.upload) { print($0.fraction ?? 0) }
    /// ```
    ///
    /// See ``Modifiers/Progress``.
    public func progress(
        _ watched: TransferProgress.Watched = .both, _ report: @escaping @Sendable (TransferProgress) -> Void
    ) -> AnyRequestTask<Element> {
        modifier(Modifiers.Progress(watched, report))
    }
}
