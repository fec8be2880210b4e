/// A body that may have arrived as a whole before anybody reads it, as short ones do with their heads.
package protocol PromptBody: IncomingBody {
    /// Whether it has come to its end as it should, and nobody has begun to read it.
    var hasArrived: Bool { get }

    /// All of it, when it has arrived: it counts as read to its end then. Nil, and nothing is taken, otherwise.
    func takeAll() -> [UInt8]?
}

extension HTTPResponse {
    /// Whether the body is in memory, or has arrived so that it can be taken there without waiting.
    package var hasArrived: Bool { body.bytes != nil || (body.incoming as? any PromptBody)?.hasArrived == true }

    /// Takes a body that has arrived into memory, with what is known of it at its end.
    ///
    /// - Returns: The bytes that are in memory then; nil when some are still to come.
    package mutating func takeWhole() -> [UInt8]? {
        if let bytes = body.bytes { return bytes }
        guard let arrived = body.incoming as? any PromptBody, let bytes = arrived.takeAll() else { return nil }
        if let fields = arrived.trailers { trailers = fields }
        if let measurements = arrived.metrics { metrics = measurements }
        body = HTTPBody(bytes.isEmpty ? .empty : .bytes(bytes), contentType: body.contentType)
        return bytes
    }
}
