#if os(Linux)
    import Glibc
    package import MidstreamCore

    extension HTTPError {
        /// The request's address isn't one.
        package static let noAddress = HTTPError(
            .invalidRequest, "The request's address is none of IPv4 or IPv6, with a port or without.", phase: .notSent)

        /// The system gives no thread, descriptor or memory.
        package static func noResources(_ number: Int32) -> HTTPError {
            HTTPError(
                .connection, "The system lacks resources for the transfer: \(String(cString: strerror(number))).",
                phase: .notSent
            ).refusedHere
        }
    }
#endif
