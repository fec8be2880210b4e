#if os(Linux)
    internal import MidstreamCore

    /// Why there is no connection.
    struct DialFailure: Error {
        let code: HTTPError.Code
        let message: String
        /// The fault is this side's.
        var isOwn = false

        /// What a caller gets.
        func error(_ request: HTTPRequest? = nil, phase: HTTPError.Phase = .notSent) -> HTTPError {
            let error = HTTPError(code, message, request: request, phase: phase)
            return isOwn ? error.refusedHere : error
        }

        static func proxy(_ message: String) -> DialFailure { DialFailure(code: .proxy, message: message) }
    }
#endif
