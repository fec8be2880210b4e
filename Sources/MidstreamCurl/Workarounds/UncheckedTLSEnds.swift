#if os(Linux)
    internal import CCurl

    /// libcurl takes any end of a TLS connection for the end of a body without a length, so that one that was cut passes for whole. A
    /// server has to announce the end (`close_notify`, RFC 9112 §9.8), which others on the way can't. In 7.88.1, not in 8.23.0; done with
    /// any version, since the one that ended it isn't known.
    ///
    /// So OpenSSL's state is looked up while the connection is the transfer's. With another TLS library nothing is checked.
    enum UncheckedTLSEnds {
        private static let state = ccurl_find_openssl_shutdown()
        /// `SSL_RECEIVED_SHUTDOWN`
        private static let received: Int32 = 2

        /// Whether the server has announced the end; nil when that isn't known.
        static func isAnnounced(_ curl: UnsafeMutableRawPointer) -> Bool? {
            guard let state, let session = ccurl_info_openssl(curl) else { return nil }
            return state(session) & received != 0
        }
    }
#endif
