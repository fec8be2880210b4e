#if os(Linux)
    import Glibc

    /// Lets this process have as many descriptors as it may: whoever has started it may have set a lower limit.
    package func raiseDescriptorLimit() {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
#endif
