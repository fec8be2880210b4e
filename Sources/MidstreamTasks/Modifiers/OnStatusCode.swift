public import MidstreamCore

/// For a code, a range or a set; with the result or without.
extension RequestTask {
    /// Does something when the status is one of a set; what it throws, the task throws.
    public func onStatusCode<Payload>(
        _ statuses: HTTPStatusSet, _ perform: @escaping @Sendable (TaskResult<Payload>) async throws -> Void
    ) -> AnyRequestTask<TaskResult<Payload>> where Element == TaskResult<Payload> {
        map { result in
            if statuses.contains(result.head.status) { try await perform(result) }
            return result
        }
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
