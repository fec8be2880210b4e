public import MidstreamCore

extension Modifiers {
    /// Does something when the status is one of a set. The result goes on unless that throws.
    public struct OnStatusCode<Payload: Sendable>: RequestTaskModifier {
        private let statuses: HTTPStatusSet
        private let perform: @Sendable (TaskResult<Payload>) async throws -> Void

        /// Makes the modifier.
        public init(_ statuses: HTTPStatusSet, perform: @escaping @Sendable (TaskResult<Payload>) async throws -> Void) {
            self.statuses = statuses
            self.perform = perform
        }

        /// Gives the result as it is.
        ///
        /// - Throws: What the task or the closure throws.
        public func body(_ task: AnyRequestTask<TaskResult<Payload>>) async throws -> TaskResult<Payload> {
            let result = try await task.result()
            if statuses.contains(result.head.status) { try await perform(result) }
            return result
        }
    }
}

/// ``Modifiers/OnStatusCode`` for a code, a range or a set; with the result or without.
extension RequestTask {
    /// Does something when the status is one of a set; what it throws, the task throws.
    public func onStatusCode<Payload>(
        _ statuses: HTTPStatusSet, _ perform: @escaping @Sendable (TaskResult<Payload>) async throws -> Void
    ) -> AnyRequestTask<TaskResult<Payload>> where Element == TaskResult<Payload> {
        modifier(Modifiers.OnStatusCode(statuses, perform: perform))
    }

    /// Does something when the status is one of a set; what it throws, the task throws.
    public func onStatusCode<Payload>(
        _ statuses: HTTPStatusSet, _ perform: @escaping @Sendable () async throws -> Void
    ) -> AnyRequestTask<TaskResult<Payload>> where Element == TaskResult<Payload> {
        onStatusCode(statuses) { _ in try await perform() }
    }

    /// Does something when the status is this one; what it throws, the task throws.
    public func onStatusCode<Payload>(
        _ status: HTTPStatus, _ perform: @escaping @Sendable (TaskResult<Payload>) async throws -> Void
    ) -> AnyRequestTask<TaskResult<Payload>> where Element == TaskResult<Payload> {
        onStatusCode([status], perform)
    }

    /// Does something when the status is this one; what it throws, the task throws.
    ///
    /// ```swift
    /// client.get("users").onStatusCode(.internalServerError) { throw InternalServerError() }
    /// ```
    public func onStatusCode<Payload>(
        _ status: HTTPStatus, _ perform: @escaping @Sendable () async throws -> Void
    ) -> AnyRequestTask<TaskResult<Payload>> where Element == TaskResult<Payload> {
        onStatusCode([status]) { _ in try await perform() }
    }

    /// Does something when the status is in a range, such as `400..<500`; what it throws, the task throws.
    @_disfavoredOverload
    public func onStatusCode<Payload>(
        _ statuses: Range<HTTPStatus>, _ perform: @escaping @Sendable (TaskResult<Payload>) async throws -> Void
    ) -> AnyRequestTask<TaskResult<Payload>> where Element == TaskResult<Payload> {
        onStatusCode(HTTPStatusSet(statuses.lowerBound.code..<statuses.upperBound.code), perform)
    }

    /// Does something when the status is in a range, such as `400..<500`; what it throws, the task throws.
    @_disfavoredOverload
    public func onStatusCode<Payload>(
        _ statuses: Range<HTTPStatus>, _ perform: @escaping @Sendable () async throws -> Void
    ) -> AnyRequestTask<TaskResult<Payload>> where Element == TaskResult<Payload> {
        onStatusCode(statuses) { _ in try await perform() }
    }

    /// Does something when the status is in a range, such as `400...499`; what it throws, the task throws.
    @_disfavoredOverload
    public func onStatusCode<Payload>(
        _ statuses: ClosedRange<HTTPStatus>, _ perform: @escaping @Sendable (TaskResult<Payload>) async throws -> Void
    ) -> AnyRequestTask<TaskResult<Payload>> where Element == TaskResult<Payload> {
        onStatusCode(HTTPStatusSet(statuses.lowerBound.code...statuses.upperBound.code), perform)
    }

    /// Does something when the status is in a range, such as `400...499`; what it throws, the task throws.
    @_disfavoredOverload
    public func onStatusCode<Payload>(
        _ statuses: ClosedRange<HTTPStatus>, _ perform: @escaping @Sendable () async throws -> Void
    ) -> AnyRequestTask<TaskResult<Payload>> where Element == TaskResult<Payload> {
        onStatusCode(statuses) { _ in try await perform() }
    }
}
