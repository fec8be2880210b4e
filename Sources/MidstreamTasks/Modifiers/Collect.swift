public import Foundation
public import MidstreamCore

extension Modifiers {
    /// Reads a body that is still arriving into data.
    public struct CollectData: RequestTaskModifier {
        private let limit: Int

        /// Makes the modifier.
        ///
        /// - Parameter limit: The number of bytes past which it gives up; 64 MiB by default.
        public init(upTo limit: Int = HTTPBody.defaultCollectLimit) { self.limit = limit }

        /// Gives the result with its whole body. A rejection stays.
        ///
        /// - Throws: What ``HTTPBody/collect(upTo:)`` and the task throw.
        public func body(_ task: AnyRequestTask<TaskResult<HTTPBody>>) async throws -> TaskResult<Data> {
            let result = try await task.result()
            let bytes = try await result.payload.collect(upTo: limit)
            return result.map { _ in Data(bytes) }
        }
    }

    /// Reads a body that is still arriving into an array of bytes.
    public struct CollectBytes: RequestTaskModifier {
        private let limit: Int

        /// Makes the modifier.
        ///
        /// - Parameter limit: The number of bytes past which it gives up; 64 MiB by default.
        public init(upTo limit: Int = HTTPBody.defaultCollectLimit) { self.limit = limit }

        /// Gives the result with its whole body. A rejection stays.
        ///
        /// - Throws: What ``HTTPBody/collect(upTo:)`` and the task throw.
        public func body(_ task: AnyRequestTask<TaskResult<HTTPBody>>) async throws -> TaskResult<[UInt8]> {
            let result = try await task.result()
            let bytes = try await result.payload.collect(upTo: limit)
            return result.map { _ in bytes }
        }
    }
}

extension RequestTask where Element == TaskResult<HTTPBody> {
    /// Reads the body that is still arriving into data. See ``DataTask/streamed()`` and ``Modifiers/CollectData``.
    public func collectData(upTo limit: Int = HTTPBody.defaultCollectLimit) -> AnyRequestTask<TaskResult<Data>> {
        modifier(Modifiers.CollectData(upTo: limit))
    }

    /// Reads the body that is still arriving into an array of bytes. See ``Modifiers/CollectBytes``.
    public func collectBytes(upTo limit: Int = HTTPBody.defaultCollectLimit) -> AnyRequestTask<TaskResult<[UInt8]>> {
        modifier(Modifiers.CollectBytes(upTo: limit))
    }
}
