#if os(Linux)
    internal import Interception

    package enum MonotonicTime {
        /// Nanoseconds of the clock that deadlines go by.
        package static func now() -> UInt64 { UInt64(bitPattern: continuousNanoseconds()) }
    }

    extension Duration {
        /// Rounded up, at least one.
        package func whole(_ unit: Duration) -> Int { Int(max(1, min(Double(Int32.max), (self / unit).rounded(.up)))) }
        package var wholeNanoseconds: UInt64 { UInt64(max(0, min(Double(Int64.max / 2), self / .nanoseconds(1)))) }
    }
#endif
