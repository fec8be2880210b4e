#if os(Linux)
    internal import CTLS

    /// What OpenSSL notes on the present thread when it fails.
    enum TLSErrors {
        /// The first, in OpenSSL's words; nil when there is none. The notes are empty afterwards.
        static func takeFirst() -> String? {
            let code = ERR_get_error()
            defer { ERR_clear_error() }
            guard code != 0 else { return nil }
            return ERR_reason_error_string(code).map { String(cString: $0) } ?? "error \(code)"
        }
    }
#endif
