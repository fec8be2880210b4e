#if os(Linux)
    internal import CNghttp2
    import Glibc

    /// The nghttp2 that the program is linked with.
    enum HTTP2Library {
        /// Whether it ends floods of CONTINUATION frames by itself: from 1.61, and where a distribution has mended an older one.
        static let isSafe: Bool = {
            guard let version = nghttp2_version(0)?.pointee.version_num else { return false }
            return version >= 0x013D00 || dlsym(nil, "nghttp2_option_set_max_continuations") != nil
        }()
    }

    /// What ends a stream or a connection (RFC 9113 §7).
    struct HTTP2ErrorCode: RawRepresentable, Equatable {
        static let noError = HTTP2ErrorCode(rawValue: 0)
        static let refusedStream = HTTP2ErrorCode(rawValue: 7)
        static let cancel = HTTP2ErrorCode(rawValue: 8)
        static let enhanceYourCalm = HTTP2ErrorCode(rawValue: 11)
        static let http11Required = HTTP2ErrorCode(rawValue: 13)

        let rawValue: UInt32

        /// Whether it says that a rule was broken.
        var isViolation: Bool { [1, 3, 5, 6, 9].contains(rawValue) }

        /// As in the RFC.
        var name: String { nghttp2_http2_strerror(rawValue).map { String(cString: $0) } ?? "error \(rawValue)" }
    }
#endif
