#if Curl && os(Linux)
    internal import CCurl
    internal import MidstreamCore

    enum CurlLibrary {
        /// Touched before anything else of curl's is.
        ///
        /// Once in a process, and never undone: FoundationNetworking uses the same library. A program may end while loops are at
        /// work, so what they use has to stay until they are gone as well.
        static let isInitialized: Bool = {
            ccurl_keep_openssl()
            return curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
        }()

        /// Of the libcurl that is loaded, as `LIBCURL_VERSION_NUM` writes it.
        static let version = ccurl_version()

        /// 7.87.0: the first that knows all options which are set here. Of these `CURLOPT_QUICK_EXIT` came last, after
        /// `CURLOPT_PROTOCOLS_STR` (7.85.0), `CURLINFO_CAINFO` (7.84.0), `CURLOPT_PREREQFUNCTION` (7.80.0) and
        /// `CURLOPT_CAINFO_BLOB` (7.77.0). An older one would ignore them, and with them whom the user trusts. The headers are held to
        /// the same by `shim.h`.
        static let oldestVersion: UInt32 = 0x07_57_00

        /// Why the libcurl that is loaded can't be used; nil: it can.
        static let problem = problem(version: version, isInitialized: isInitialized)

        static func problem(version: UInt32, isInitialized: Bool) -> HTTPError? {
            guard version >= oldestVersion else {
                return HTTPError(
                    .unsupported,
                    "The libcurl that is loaded is \(name(of: version)); the transport needs \(name(of: oldestVersion)) or newer.",
                    phase: .notSent)
            }
            return isInitialized ? nil : HTTPError(.unsupported, "libcurl can't be initialised.", phase: .notSent)
        }

        private static func name(of version: UInt32) -> String {
            "\(version >> 16 & 0xFF).\(version >> 8 & 0xFF).\(version & 0xFF)"
        }

        /// Before 8.1.0 a handle keeps a pointer to the last field that it has received, and writes through it when the next
        /// response's first field is a folded line (curl issue 11101). Nothing but a new handle is without it.
        static let handlesServeOnce = version < 0x08_01_00

        /// Before 8.1.0 one call into curl lasts for as long as a server sends HTTP/2 frames that belong to no response.
        static let readsFloods = version < 0x08_01_00

        /// Before 8.0.0 a connection that begins with HTTP/2 over plain http serves one request; the next ones on it fail.
        static let plainHTTP2ServesOnce = version < 0x08_00_00

        /// Newer versions write the escapes in a path with capitals, which is the same resource but not what was asked for (and may
        /// have been signed). 7.88 doesn't do it, 8.23 does.
        static let rewritesPaths = version >= 0x08_00_00
    }
#endif
