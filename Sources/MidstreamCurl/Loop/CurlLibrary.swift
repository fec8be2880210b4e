#if Curl && os(Linux)
    internal import CCurl

    enum CurlLibrary {
        /// Touched before anything else of curl's is.
        ///
        /// Once in a process, and never undone: FoundationNetworking uses the same library. A program may end while loops are at
        /// work, so what they use has to stay until they are gone as well.
        static let isInitialized: Bool = {
            ccurl_keep_openssl()
            return curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
        }()
    }
#endif
