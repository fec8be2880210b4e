extension HTTPError {
    /// Whether a response whose body ended with this may be gone on with: its head may be all that anybody wants of it, of a redirect that is
    /// followed and of a 401 that is answered with credentials.
    package func leavesEnough(of status: HTTPStatus, _ headers: HTTPHeaders) -> Bool {
        isOfBodyAlone && (status == .unauthorized || status.isRedirectToFollow && headers.contains(.location))
    }

    /// The error with the response whose body ended with it, where that is a refusal: its status says more than how its body ended, since
    /// servers that refuse a request unread often reset the connection. Reading the body throws the error again.
    package func ofRefusal(_ refusal: @autoclosure () -> HTTPResponse, _ status: HTTPStatus) -> HTTPError {
        guard status.code >= 400, isOfBodyAlone, response == nil else { return self }
        var head = refusal()
        head.body = .broken(by: self)
        return withResponse(head, shortfall: "That ended the body of a response of status \(status.code).")
    }

    /// The response whose body ended with this, where its head may be enough: who needs the body gets the error when reading it.
    ///
    /// - Throws: The error for any other, with the response where that is a refusal.
    package func headAlone(of response: HTTPResponse) throws(HTTPError) -> HTTPResponse {
        guard leavesEnough(of: response.status, response.headers) else { throw ofRefusal(response, response.status) }
        var head = response
        head.body = .broken(by: self)
        return head
    }

    /// Not where time is over, or a digest says that somebody has changed it.
    private var isOfBodyAlone: Bool {
        phase == .answered && !isRefusedHere && ![.timeout, .deadlineExceeded, .digestMismatch].contains(code)
    }
}

extension HTTPBody {
    /// What is left of a body that has come to nothing: reading it fails.
    package static func broken(by error: any Error) -> HTTPBody { .incoming(next: { throw error }, close: {}) }
}

extension HTTPStatus {
    /// Whether it asks for another request where there is a `Location` (RFC 9110 §15.4).
    package var isRedirectToFollow: Bool {
        switch code {
        case 301, 302, 303, 307, 308: true
        default: false
        }
    }
}
