#if os(Linux)
    /// How long a server of HTTP/2 may be silent, in nanoseconds.
    struct HTTP2Silence {
        /// Before it is asked for an answer when the next stream begins: 15 s. A path that was forgotten on the way gives no sign of it.
        var longest: UInt64 = 15_000_000_000
        /// After it was asked: 15 s.
        var longestAnswer: UInt64 = 15_000_000_000
    }
#endif
