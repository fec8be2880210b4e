internal import MidstreamCore

/// A place in a JSON document, written as a key path: `\.data.items[0]["display-name"]`.
///
/// Any name may stand behind a dot; one that is no Swift identifier stands in brackets, and a number there is the place in an array,
/// from 0. It works on every platform, since it doesn't use the Objective-C runtime.
@dynamicMemberLookup
public struct JSONPath: Sendable {
    // The type has no other members, least of all public ones: they would stand in the way of keys of the same name.
    let steps: [JSONStep]

    /// The value of a key.
    public subscript(dynamicMember key: String) -> JSONPath { JSONPath(steps: steps + [.key(key)]) }

    /// The value of a key that is no Swift identifier.
    public subscript(key: String) -> JSONPath { JSONPath(steps: steps + [.key(key)]) }

    /// The element of an array.
    public subscript(index: Int) -> JSONPath { JSONPath(steps: steps + [.index(index)]) }

    private init(steps: [JSONStep]) { self.steps = steps }

    init(_ path: KeyPath<JSONPath, JSONPath>) { self = JSONPath(steps: [])[keyPath: path] }
}
