#if os(Linux)
    internal import MidstreamCore

    /// When an upload over HTTP/2 ends otherwise than with the last byte of a known length, because the length is unknown or the server
    /// refuses it early, libcurl parses what it has received of all the connection's streams. It does so even while a stream has more
    /// than its buffer holds, as when it waits for its reader, and overwrites or reorders that. In 7.88.1. 8.23.0 leaves other streams alone,
    /// but takes an upload that is refused beside them for one that was reset.
    ///
    /// Over HTTP/3 an upload that is given up while it waits for more of its body may break the connection for all who use it, and for the next
    /// one: nghttp3 asks for the body all the same, and fails. In 8.23.0; no version is known to be without it.
    ///
    /// So such uploads have connections of their own (`UploadsHaveTheirOwnConnection` among the decisions).
    enum DamagingUploads {
        /// A body of this size fits into the window that every stream begins with (RFC 9113 §6.9.2), so it is sent at once.
        private static let initialWindow = 65_535

        static func include(_ body: HTTPBody) -> Bool { body.bytes.map { $0.count > initialWindow } ?? true }
    }
#endif
