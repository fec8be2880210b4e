#if os(Linux)
    internal import CCurl

    /// libcurl goes on with an upload although its response is whole, and waits for ever when the server doesn't read the rest. Nor does it
    /// end a refused upload while its sending is paused. In 7.88.1 and 8.23.0; no version is known to be without it.
    ///
    /// So such a transfer is ended as a success, and paused sending is resumed.
    enum EarlyAnswers {
        /// Whether as much of the body has come as the response has announced.
        static func isWhole(_ curl: UnsafeMutableRawPointer, length: Int64) -> Bool {
            ccurl_info_offset(curl, CURLINFO_SIZE_DOWNLOAD_T) >= length
        }

        /// Whether the status has libcurl end an upload.
        static func endUpload(status: Int) -> Bool { status >= 300 }
    }
#endif
