#if os(Linux)
    import Glibc

    /// Lets the files of this process become so large; a write past that is an error then. For a process of its own, since the limit is one of
    /// all files that it writes.
    ///
    /// - Returns: How large they could become before.
    @discardableResult
    package func limitFileSize(to size: UInt) -> UInt {
        signal(SIGXFSZ, SIG_IGN)
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
        let before = UInt(limit.rlim_cur)
        limit.rlim_cur = rlim_t(size)
        setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
        return before
    }
#endif
