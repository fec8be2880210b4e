/// The codes by the name that a `catch` needs: `catch HTTPError.timeout`.
extension HTTPError {
    /// ``Code/invalidRequest``
    public static var invalidRequest: Code { .invalidRequest }
    /// ``Code/nameResolution``
    public static var nameResolution: Code { .nameResolution }
    /// ``Code/connection``
    public static var connection: Code { .connection }
    /// ``Code/forbiddenDestination``
    public static var forbiddenDestination: Code { .forbiddenDestination }
    /// ``Code/tls``
    public static var tls: Code { .tls }
    /// ``Code/proxy``
    public static var proxy: Code { .proxy }
    /// ``Code/timeout``
    public static var timeout: Code { .timeout }
    /// ``Code/deadlineExceeded``
    public static var deadlineExceeded: Code { .deadlineExceeded }
    /// ``Code/connectionLost``
    public static var connectionLost: Code { .connectionLost }
    /// ``Code/protocolViolation``
    public static var protocolViolation: Code { .protocolViolation }
    /// ``Code/tooManyRedirects``
    public static var tooManyRedirects: Code { .tooManyRedirects }
    /// ``Code/unacceptableStatus``
    public static var unacceptableStatus: Code { .unacceptableStatus }
    /// ``Code/emptyResponse``
    public static var emptyResponse: Code { .emptyResponse }
    /// ``Code/bodyTooLarge``
    public static var bodyTooLarge: Code { .bodyTooLarge }
    /// ``Code/bodyNotReplayable``
    public static var bodyNotReplayable: Code { .bodyNotReplayable }
    /// ``Code/bodyUnreadable``
    public static var bodyUnreadable: Code { .bodyUnreadable }
    /// ``Code/fileUnwritable``
    public static var fileUnwritable: Code { .fileUnwritable }
    /// ``Code/decoding``
    public static var decoding: Code { .decoding }
    /// ``Code/validation``
    public static var validation: Code { .validation }
    /// ``Code/retriesExhausted``
    public static var retriesExhausted: Code { .retriesExhausted }
    /// ``Code/authentication``
    public static var authentication: Code { .authentication }
    /// ``Code/explaining``
    public static var explaining: Code { .explaining }
    /// ``Code/unsupported``
    public static var unsupported: Code { .unsupported }
    /// ``Code/digestMismatch``
    public static var digestMismatch: Code { .digestMismatch }
    /// ``Code/circuitOpen``
    public static var circuitOpen: Code { .circuitOpen }
    /// ``Code/overloaded``
    public static var overloaded: Code { .overloaded }
    /// ``Code/rateLimited``
    public static var rateLimited: Code { .rateLimited }
}
