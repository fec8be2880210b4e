/// A body that may be complete before it is read, as short ones are when their heads arrive.
package protocol ReadyBody: IncomingBody {
    /// All bytes of a complete body that nobody has begun to read, which then counts as read; nil, with nothing taken, for any other.
    func takeAll() -> [UInt8]?
}

extension HTTPResponse {
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
