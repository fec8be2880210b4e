#if os(Linux)
    extension TransportConfiguration {
        /// Which servers connections may be made to. Every address is looked at just before a socket is connected to it, after the name was
        /// looked up: what a name, a redirect or an unusual spelling of an address (`0x7f.1`) leads to makes no difference, nor when it changes.
        public enum Destinations: Sendable, Hashable {
            /// All.
            case any
            /// Those that anybody on the internet could reach: for requests whose URLs come from users.
            ///
            /// Refused are the addresses that the registries of special ones (RFC 6890) don't call globally reachable: loopback, private (RFC
            /// 1918, 6598, 4193), link-local, which those of metadata services are among, multicast, unspecified, reserved ones and those of
            /// documentation; further the metadata addresses that look public, unix domain sockets, and IPv6 addresses that have a refused one
            /// of IPv4 inside (RFC 4291 §2.5.5, 3056, 5214, 6052). Of a name's addresses the others are used; a request to a host that has no
            /// other fails with ``HTTPError/Code/forbiddenDestination`` and isn't tried again.
            ///
            /// ``hostOverrides`` and ``HTTPRequest/address`` are no exceptions. Through a proxy nobody here sees where a connection leads, so that
            /// requests fail with ``HTTPError/Code/unsupported`` that would go through one; with libcurl, all when ``proxy`` isn't `.direct`.
            /// What it can't know: a private service behind a public address, and a network's own prefix for IPv4 inside of IPv6 (RFC 6052 §2.2).
            ///
            /// - Parameter except: Addresses (`10.1.2.3`, `fd00::1`) and ranges (`10.1.0.0/16`, RFC 4632) that are allowed all the same. With
            ///   one that can't be read every request fails with ``HTTPError/Code/invalidRequest``.
            case publicOnly(except: [String] = [])
        }
    }
#endif
