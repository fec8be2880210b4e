internal import Foundation
public import MidstreamCore

/// What a server answered, with whatever status: the head, and what has been made of the body so far.
///
/// A status that the validators reject doesn't keep the result from being looked at; it throws when the payload is taken out, by
/// ``get()``, `decode`, `keyPath`, `extractPayload`, `value` and the like. `acceptOnlyStatusCode` lets a status through.
/// Reading ``payload`` itself never throws.
public struct TaskResult<Payload: Sendable>: Sendable {
    /// The status, the header fields and where they came from.
    public let head: ResponseHead
    /// The payload, even if the validators reject the response.
    public let payload: Payload
    /// Why the validators reject the response; nil when they accept it.
    public let rejection: HTTPError?
    /// The response that it was made of, which knows its trace; nil when it was made by hand.
    public let response: HTTPResponse?

    /// Which part of the body the payload is, as far as `keyPath` has led; for messages.
    let path: [JSONStep]
}

extension TaskResult {
    /// Makes a result, as tests and modifiers do.
    ///
    /// - Parameter rejection: What taking out the payload throws; nil: it is accepted.
    public init(head: ResponseHead, payload: Payload, rejection: HTTPError? = nil) {
        self.init(head: head, payload: payload, rejection: rejection, response: nil, path: [])
    }

    package init(_ response: HTTPResponse, payload: Payload, rejection: HTTPError?) {
        self.init(head: ResponseHead(response), payload: payload, rejection: rejection, response: response, path: [])
    }

    /// The payload.
    ///
    /// - Throws: ``rejection``.
    public func get() throws -> Payload {
        if let rejection { throw rejection }
        return payload
    }

    /// The same result with another payload; a rejection stays.
    public func map<Other: Sendable>(_ transform: (Payload) throws -> Other) rethrows -> TaskResult<Other> {
        TaskResult<Other>(
            head: head, payload: try transform(payload), rejection: rejection, response: response, path: path)
    }

    /// The same result, accepted.
    func accepted() -> Self { Self(head: head, payload: payload, rejection: nil, response: response, path: path) }

    /// The same result with a part of its body.
    func part(_ part: Payload, at path: [JSONStep]) -> Self {
        Self(head: head, payload: part, rejection: rejection, response: response, path: self.path + path)
    }

    /// The response, or the nearest thing to it for a result that was made by hand.
    var anyResponse: HTTPResponse {
        response ?? head.response((payload as? Data).map { .data($0) } ?? .empty)
    }
}

extension TaskResult: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The status, where it came from and what kind of payload there is; never its content.
    public var description: String {
        if let data = payload as? Data { return "\(head), \(data.count) bytes" }
        return "\(head), \(Payload.self)"
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Shows what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["result": description]) }
}

/// A result that may have been rejected, whatever its payload.
protocol Rejectable {
    var rejection: HTTPError? { get }
}

extension TaskResult: Rejectable {}
