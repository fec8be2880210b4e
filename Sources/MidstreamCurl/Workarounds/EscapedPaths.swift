#if os(Linux)
    internal import CCurl
    internal import MidstreamCore

    /// libcurl writes the escapes in a path with capital letters: the same resource, but not what was asked for, and what may have been
    /// signed. 8.23.0 does, 7.88.1 doesn't, and no version is known to end it.
    ///
    /// So the request's target is set beside the URL.
    enum EscapedPaths {
        static let areRewritten = ccurl_version() >= 0x08_00_00

        /// The target to set for a URL; nil: libcurl's is right.
        static func target(of url: String) -> String? {
            guard url.utf8.contains(UInt8(ascii: "%")) else { return nil }
            let parts = URLText(url)
            guard parts.path.utf8.contains(UInt8(ascii: "%")) else { return nil }
            return "\(parts.path)\(parts.query.map { "?\($0)" } ?? "")"
        }
    }
#endif
