/// A body that may be complete before it is read, as short ones are when their heads arrive.
package protocol ReadyBody: IncomingBody {
    /// Whether it is complete and reading hasn't begun.
    var hasArrived: Bool { get }

    /// All bytes of a complete body, which then counts as read; nil, with nothing taken, for any other.
    func takeAll() -> [UInt8]?
}

extension HTTPResponse {
    /// Whether the body is in memory or can be taken there without waiting.
    package var hasArrived: Bool { body.bytes != nil || (body.incoming as? any ReadyBody)?.hasArrived == true }

    /// Takes a complete body into memory, with its trailers and metrics; nil when bytes are still to come.
    package mutating func takeWhole() -> [UInt8]? {
        if let bytes = body.bytes { return bytes }
        guard let arrived = body.incoming as? any ReadyBody, let bytes = arrived.takeAll() else { return nil }
        if let fields = arrived.trailers { trailers = fields }
        if let measurements = arrived.metrics { metrics = measurements }
        body = HTTPBody(HTTPBody.bytes(bytes).storage, contentType: body.contentType)
        return bytes
    }
}
