#if os(Linux)
    /// Finds the addresses of hosts in place of the system's resolver; see ``TransportConfiguration/resolver``.
    public protocol HostResolver: Sendable {
        /// Finds the addresses of a host.
        ///
        /// It is asked once for all connections to a host that are being made at the time, and again for the next one: nothing is kept
        /// besides. It isn't asked for hosts that are addresses. Its task is nobody's child, and isn't cancelled when the request is or when
        /// ``TransportConfiguration/connectTimeout`` is over, which it counts towards.
        ///
        /// - Parameter host: The name, in small letters, as it is in the URL.
        /// - Returns: Addresses of IPv4 and IPv6, the preferred one first; others are passed over. Without any the request fails with
        ///   ``HTTPError/Code/nameResolution``.
        /// - Throws: Anything; the request fails with ``HTTPError/Code/nameResolution``.
        func addresses(of host: String) async throws -> [String]
    }
#endif
