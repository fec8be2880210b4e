#if os(Linux)
    internal import Interception

    package enum MonotonicTime {
        /// Nanoseconds of the clock that deadlines go by.
        package static func now() -> UInt64 { UInt64(bitPattern: continuousNanoseconds()) }
    }

    extension Duration {
        /// Whole milliseconds, rounded up, at least one.
        package var wholeMilliseconds: Int {
            // A longer one's components may not fit into their type.
            guard self < .milliseconds(Int32.max) else { return Int(Int32.max) }
            guard self > .zero else { return 1 }
            let (seconds, attoseconds) = components
            return Int(seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
        }
        /// Whole seconds, rounded up, at least one.
        package var wholeSeconds: Int { Int(max(1, min(Double(Int32.max), (self / .seconds(1)).rounded(.up)))) }
        /// Whole nanoseconds.
        package var wholeNanoseconds: UInt64 { UInt64(max(0, min(Double(Int64.max / 2), self / .nanoseconds(1)))) }
    }
#endif
