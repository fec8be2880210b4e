public import Foundation

extension RequestTask {
    /// Goes on with a part of the JSON body.
    ///
    /// ```swift
    /// client.get("users").keyPath(\.data.items[0]["display-name"]).value(String.self)
    /// ```
    ///
    /// The part is byte for byte as it stands in the body. The task throws the result's rejection, and ``HTTPError/Code/decoding`` that
    /// names the part of the path that isn't there. See ``JSONPath``.
    public func keyPath(
        _ path: KeyPath<JSONPath, JSONPath>
    ) -> AnyRequestTask<TaskResult<Data>> where Element == TaskResult<Data> {
        let path = JSONPath(path)
        return map { result in
            result.part(try JSONPart(result.get(), of: result).part(at: path), at: path.steps)
        }
    }

    /// Goes on with a part of the JSON data.
    public func keyPath(_ path: KeyPath<JSONPath, JSONPath>) -> AnyRequestTask<Data> where Element == Data {
        let path = JSONPath(path)
        return map { try JSONPart($0).part(at: path) }
    }
}
