public import Foundation
public import MidstreamCore

extension RequestTask where Element == TaskResult<HTTPBody> {
    /// Reads the body that is still arriving into data; see ``DataTask/streamed()``. A rejection stays.
    ///
    /// - Parameter limit: The number of bytes past which it gives up; 64 MiB by default. See ``HTTPBody/collect(upTo:)``.
    public func collectData(upTo limit: Int = HTTPBody.defaultCollectLimit) -> AnyRequestTask<TaskResult<Data>> {
        collectBytes(upTo: limit).map { $0.map { Data($0) } }
    }

    /// Reads the body that is still arriving into an array of bytes; see ``collectData(upTo:)``.
    public func collectBytes(upTo limit: Int = HTTPBody.defaultCollectLimit) -> AnyRequestTask<TaskResult<[UInt8]>> {
        map { result in
            let bytes = try await result.payload.collect(upTo: limit)
            return result.map { _ in bytes }
        }
    }
}
