#if os(Linux)
    internal import CCurl

    /// With libcurl before 8.0.0, a connection that begins with HTTP/2 over plain http serves one request; later ones on it fail.
    ///
    /// So each of these requests gets a connection of its own.
    enum PlainHTTP2 {
        static let keepsConnections = ccurl_version() >= 0x08_00_00
    }
#endif
