#if os(Linux)
    internal import MidstreamCore

    /// Why there is no connection.
    struct DialFailure: Error {
        let code: HTTPError.Code
        let message: String
        /// The fault is this side's.
        var isOwn = false

        static func proxy(_ message: String) -> DialFailure { DialFailure(code: .proxy, message: message) }
    }
#endif
