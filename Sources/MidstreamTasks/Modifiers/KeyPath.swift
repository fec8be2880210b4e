public import Foundation
internal import MidstreamCore

extension Modifiers {
    /// Goes on with a part of a JSON body.
    public struct KeyPath: RequestTaskModifier {
        private let path: JSONPath

        /// Makes the modifier.
        public init(_ path: Swift.KeyPath<JSONPath, JSONPath>) { self.path = JSONPath(path) }

        /// Gives the part, byte for byte as it stands in the body.
        ///
        /// - Throws: The result's rejection; ``HTTPError/Code/decoding`` that names the part of the path that isn't there; what the
        ///   task throws.
        public func body(_ task: AnyRequestTask<TaskResult<Data>>) async throws -> TaskResult<Data> {
            let result = try await task.result()
            let data = try result.get()
            return result.part(try JSONPart(data, of: result).part(at: path), at: path.steps)
        }
    }
}

extension RequestTask {
    /// Goes on with a part of the JSON body.
    ///
    /// ```swift
    /// client.get("users").keyPath(\.data.items[0]["display-name"]).value(String.self)
    /// ```
    ///
    /// See ``JSONPath`` and ``Modifiers/KeyPath``.
    public func keyPath(
        _ path: KeyPath<JSONPath, JSONPath>
    ) -> AnyRequestTask<TaskResult<Data>> where Element == TaskResult<Data> {
        modifier(Modifiers.KeyPath(path))
    }

    /// Goes on with a part of the JSON data.
    public func keyPath(_ path: KeyPath<JSONPath, JSONPath>) -> AnyRequestTask<Data> where Element == Data {
        let path = JSONPath(path)
        return map { try JSONPart($0).part(at: path) }
    }
}
