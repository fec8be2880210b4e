internal import MidstreamCore

/// A message as a log keeps it: without what leads back to the transport that has the log, which would never be released. A
/// request holds its call, the call its client, and that the transport.
extension HTTPRequest {
    var logged: HTTPRequest {
        var copy = self
        copy.call = nil
        return copy
    }
}

extension HTTPResponse {
    /// A body that is still arriving is its reader's, and holds the request.
    var logged: HTTPResponse {
        var copy = self
        copy.request = request.logged
        if body.incoming != nil { copy.body = .empty }
        return copy
    }
}

extension HTTPError {
    var logged: HTTPError {
        HTTPError(
            code, message, request: request?.logged, response: response?.logged,
            underlying: (underlying as? HTTPError)?.logged ?? underlying, progress: progress)
    }
}
