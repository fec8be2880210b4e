#if os(Linux)
    internal import CCurl

    /// A handle of libcurl before 8.1.0 keeps a pointer to the last field that it has received, which `curl_easy_reset` doesn't clear, and
    /// writes through it when the next response begins with a folded line (curl issue 11101): two responses corrupt the heap.
    ///
    /// So each handle serves one request, and ``HandlePool`` replaces it while nobody waits. It does so with any version where a response
    /// hasn't gone as it should: a handle of 8.23.0 whose last head broke off at a folded line doesn't find the next one's beginning.
    enum HandleReuse {
        static let isSafe = ccurl_version() >= 0x08_01_00
    }
#endif
