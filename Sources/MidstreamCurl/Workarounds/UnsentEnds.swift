#if os(Linux)
    /// Where an upload over HTTP/3 ends without a further byte after all of it has been acknowledged, libcurl leaves the end for the next
    /// packet that comes or is due. Of those there may be none: both sides wait. In 8.23.0; no version is known to be without it.
    ///
    /// So libcurl is told of something to read once it has been given such an end, which has it look for what is to be sent as well.
    enum UnsentEnds {
        /// - Parameter length: The upload's; nil: unknown, so that libcurl learns of the end only when it asks for more.
        static func leave(_ length: Int64?, mayBeHTTP3: Bool) -> Bool { length == nil && mayBeHTTP3 }
    }
#endif
