#if os(Linux)
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
                return .unsupported(
                    "The libcurl that is loaded is \(name(of: version)); the transport needs \(name(of: oldestVersion)) or newer."
                )
            }
            return isInitialized ? nil : HTTPError.unsupported("libcurl can't be initialised.")
        }

        // MARK: HTTP/3

        /// 7.88.0: the first that tries HTTP/2 beside HTTP/3, and can be asked for HTTP/3 alone.
        private static let oldestVersionWithHTTP3: UInt32 = 0x07_58_00

        /// Why the libcurl that is loaded can't speak HTTP/3; nil: it can.
        static let obstacleToHTTP3 = obstacleToHTTP3(version: version, isBuiltIn: ccurl_has_http3() != 0)

        static func obstacleToHTTP3(version: UInt32, isBuiltIn: Bool) -> String? {
            if version >= oldestVersionWithHTTP3, isBuiltIn { return nil }
            return """
                the libcurl that is loaded is \(name(of: version))\(isBuiltIn ? "" : ", built without it"); it takes \
                \(name(of: oldestVersionWithHTTP3)) or newer, built with it
                """
        }

        private static func name(of version: UInt32) -> String {
            "\(version >> 16 & 0xFF).\(version >> 8 & 0xFF).\(version & 0xFF)"
        }
    }
#endif
