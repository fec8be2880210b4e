internal import MidstreamCore

#if os(Linux)
    /// What a transport on Linux is made with, `CurlTransport` or `WireTransport`. Every setting has a default, given with it.
    ///
    /// Nothing is read from the environment or from configuration files unless ``proxy`` says so.
    public struct TransportConfiguration: Sendable {
        /// How servers prove who they are, and how the client does. By default the system's authorities and TLS 1.2 or newer.
        public var tls: TLSConfiguration
        /// Through what the connections go; ``Proxy/direct`` by default: `http_proxy` and its like are **not** read.
        public var proxy: Proxy
        /// A unix domain socket that all connections go to, whatever the URL's host, and whatever ``proxy`` says; nil by default. With libcurl
        /// no connection to it is kept.
        public var unixSocketPath: String?
        /// Where connections to a `host:port` go instead: an address, or `address:port`. The `Host` field and the name that a
        /// certificate is checked against stay those of the URL. An IPv6 address stands in brackets. Empty by default. Through a proxy the wire
        /// fails with ``HTTPError/Code/unsupported``; libcurl has the proxy connect there.
        public var hostOverrides: [String: String]
        /// Which servers connections may be made to, by their addresses; ``Destinations/any`` by default.
        public var destinations: Destinations
        /// Finds the addresses of hosts, proxies' included; nil, the system's resolver, by default. libcurl can't ask it: with one every
        /// request fails with ``HTTPError/Code/unsupported``.
        ///
        /// Called with the name, in small letters, as it is in the URL: once for all connections to a host that are being made at the time, and
        /// again for the next one, since nothing is kept besides; not for hosts that are addresses. It runs in its own task, which isn't
        /// cancelled when the request is or when ``connectTimeout`` is over, which it counts towards. It returns addresses of IPv4 and IPv6,
        /// the preferred one first; others are passed over. Without any, and when it throws, the request fails with
        /// ``HTTPError/Code/nameResolution``, or with ``HTTPError/Code/proxy`` where the host is a proxy.
        public var resolver: (@Sendable (_ host: String) async throws -> [String])?
        /// The address of this machine that connections are made from, of IPv4 or IPv6; hosts are then reached by their addresses of the same
        /// kind alone. Nil, the system's choice, by default. With one that can't be used every request fails with
        /// ``HTTPError/Code/connection``.
        public var localAddress: String?
        /// Which versions of HTTP are spoken; ``HTTPVersions/automatic`` by default.
        public var httpVersions: HTTPVersions
        /// How long name lookup, connecting, the proxy and the TLS handshake may take together; 30 s by default, nil: no
        /// limit of its own.
        public var connectTimeout: Duration?
        /// How long it may take from the start of an exchange to the end of the response's head; nil, no limit of its own,
        /// by default: the client limits attempts as a whole. While the request's body is being sent it doesn't count, and begins anew when all
        /// of it has left, which is noticed within a sixteenth of this: ``idleTimeout`` limits how long the server takes nothing.
        public var headTimeout: Duration?
        /// How long no byte of a body may move, in either direction, while this side is ready for it; 120 s by default, nil:
        /// no limit. The time in which the server works out its answer doesn't count, nor does a slow reader or writer here.
        /// A stalled body is noticed within a sixteenth more than this. Events that are read with a `silenceLimit` have that instead.
        public var idleTimeout: Duration?
        /// How many connections to one host may stand at a time; further requests wait, and are served in the order in which
        /// they came, with several ``eventLoops`` on each of them. 256 by default, nil: no limit. With libcurl those of large or streamed
        /// bodies over HTTP/2 are counted separately, here and in ``maximumConnections``. A proxy is the host of all requests that it forwards,
        /// and each address of requests that have one (``HTTPRequest/address``) a host by itself.
        public var maximumConnectionsPerHost: Int?
        /// How many connections may stand at a time in all; further requests wait. Over HTTP/2 a host counts as one, and gets
        /// further connections only while there is room; other hosts that begin then may exceed the limit by these. Nil, no
        /// limit, by default.
        public var maximumConnections: Int?
        /// Whether connections are kept for further requests; true by default.
        public var keepsConnections: Bool
        /// How long an unused connection may be kept; 90 s by default.
        public var idleConnectionLifetime: Duration
        /// How old a connection may get: on an older one no request begins, those that are under way on it end there, and then it is closed. So
        /// requests find a host's new addresses however busy its connections are. Nil, no limit, by default; libcurl counts in whole seconds.
        /// What carries another protocol, such as a WebSocket, isn't limited.
        public var maximumConnectionAge: Duration?
        /// How many threads move bytes, 64 at most; 1 by default, which suffices for tens of thousands of requests a second. More
        /// pay when the callers' tasks run on them, too (``HTTPClient/executor``). Each thread has its own connections:
        /// ``maximumConnectionsPerHost`` and ``maximumConnections`` are divided among them, and there are no more threads than connections. A
        /// request goes to the thread that its task runs on, if it is one of these and nothing waits there, else to the first of those with the
        /// fewest. If it has to wait there for a connection, it goes over to the first that has room.
        public var eventLoops: Int
        /// Whether callers' threads may move the bytes of their requests; true by default. They do when requests are sent one after the other
        /// and answered within a millisecond, which saves two switches between threads for each. A thread of Swift's pool is held for up to
        /// 10 ms then, if an answer takes longer than those before it. False: only the transport's own threads wait for sockets.
        public var usesCallersThreads: Bool
        /// Whether gzip and brotli are asked for and decoded, as far as their libraries are there; true
        /// by default. A request with an `Accept-Encoding` or a `Range` of its own is left alone, and so is the body of its
        /// response, and that of any 206: a part of an encoded body can't be decoded (RFC 9110 §14.2). A body that is cut or
        /// encoded more than twice fails with ``HTTPError/Code/decoding``.
        public var decompresses: Bool
        /// Whether zstd is asked for, too; false by default, since it takes up to 8 MiB (RFC 9659) for each response.
        public var offersZstandard: Bool
        /// How many times as large as encoded a buffered body may get by decoding, once it is larger than 16 MiB; 1,000 by default, nil:
        /// no limit. Encoded it counts as large as what was received, or as its `Content-Length` where it has one. One that exceeds it fails
        /// with ``HTTPError/Code/bodyTooLarge``. gzip reaches 1,030 with nothing but zeros. A streamed body has no such limit: its reader
        /// decides how much of it is decoded.
        public var maximumDecodedRatio: Int?

        /// Makes settings; every parameter's default is the property's.
        ///
        /// ```swift
        /// let transport = CurlTransport(configuration: .init(proxy: .http("http://proxy.example.com:3128")))
        /// ```
        public init(
            tls: TLSConfiguration = TLSConfiguration(),
            proxy: Proxy = .direct,
            unixSocketPath: String? = nil,
            hostOverrides: [String: String] = [:],
            destinations: Destinations = .any,
            resolver: (@Sendable (_ host: String) async throws -> [String])? = nil,
            localAddress: String? = nil,
            httpVersions: HTTPVersions = .automatic,
            connectTimeout: Duration? = .seconds(30),
            headTimeout: Duration? = nil,
            idleTimeout: Duration? = .seconds(120),
            maximumConnectionsPerHost: Int? = 256,
            maximumConnections: Int? = nil,
            keepsConnections: Bool = true,
            idleConnectionLifetime: Duration = .seconds(90),
            maximumConnectionAge: Duration? = nil,
            eventLoops: Int = 1,
            usesCallersThreads: Bool = true,
            decompresses: Bool = true,
            offersZstandard: Bool = false,
            maximumDecodedRatio: Int? = 1_000
        ) {
            self.tls = tls
            self.proxy = proxy
            self.unixSocketPath = unixSocketPath
            self.hostOverrides = hostOverrides
            self.destinations = destinations
            self.resolver = resolver
            self.localAddress = localAddress
            self.httpVersions = httpVersions
            self.connectTimeout = connectTimeout
            self.headTimeout = headTimeout
            self.idleTimeout = idleTimeout
            self.maximumConnectionsPerHost = maximumConnectionsPerHost
            self.maximumConnections = maximumConnections
            self.keepsConnections = keepsConnections
            self.idleConnectionLifetime = idleConnectionLifetime
            self.maximumConnectionAge = maximumConnectionAge
            self.eventLoops = eventLoops
            self.usesCallersThreads = usesCallersThreads
            self.decompresses = decompresses
            self.offersZstandard = offersZstandard
            self.maximumDecodedRatio = maximumDecodedRatio
        }

        /// Which versions of HTTP are spoken.
        public enum HTTPVersions: Sendable, Hashable {
            /// HTTP/2 over TLS when the server offers it (ALPN, RFC 7301), HTTP/1.1 otherwise.
            case automatic
            /// HTTP/1.1 only.
            case http1Only
            /// HTTP/2 from the first byte, without TLS too (RFC 9113 §3.3): for servers known to speak it. Without TLS, libcurl
            /// before 8.0.0 gets a connection for each request.
            case http2PriorKnowledge
            /// HTTP/3 (RFC 9114) beside ``automatic``: an https server is tried by QUIC and, when that takes a moment, by TCP as well; who answers
            /// first is spoken to. It takes `CurlTransport` and a libcurl that was built with HTTP/3, which is asked at run time. Otherwise, and
            /// with a ``TransportConfiguration/proxy`` or a unix domain socket, it is ``automatic``, and each call's trace says why.
            case http3
            /// HTTP/3 alone, for https servers that are known to speak it. Where ``http3`` would be ``automatic``, and to http URLs, every request
            /// fails with ``HTTPError/Code/unsupported``; a server that doesn't answer by QUIC is ``HTTPError/Code/connection`` or
            /// ``HTTPError/Code/timeout``.
            case http3Only
        }

        /// A user's name and password. The password is in no description.
        public struct Credentials: Sendable, Hashable {
            /// The user's name.
            public var user: String
            /// The password.
            public var password: String

            /// Takes both as they are, not percent-encoded.
            public init(user: String, password: String) {
                self.user = user
                self.password = password
            }
        }

        /// Through what connections go.
        public enum Proxy: Sendable, Hashable {
            /// Straight to the server.
            case direct
            /// As `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` say: read for each request by libcurl, and when the transport is made by
            /// the wire.
            case environment
            /// An HTTP proxy, `http://host:port` or `https://host:port`: asked to forward http requests, and to open a tunnel for
            /// https (RFC 9110 §9.3.6). Hosts in `noProxy` (names, which cover their subdomains, addresses, or ranges of them such as
            /// `10.0.0.0/8`) are reached directly.
            case http(String, credentials: Credentials? = nil, noProxy: [String] = [])
            /// A SOCKS 5 proxy (RFC 1928), `host:port` or `socks5h://host:port`, which looks the names up; before `socks5://host:port` they are
            /// looked up here, as by curl, and whoever answers this machine's lookups learns them. `noProxy` as above.
            case socks5(String, credentials: Credentials? = nil, noProxy: [String] = [])
        }
    }

    extension TransportConfiguration.Credentials: CustomStringConvertible, CustomReflectable {
        /// The user's name, without the password.
        public var description: String { "\(user):‹withheld›" }
        /// Shows no password.
        public var customMirror: Mirror { Mirror(self, children: ["credentials": description]) }
    }

    extension TransportConfiguration.Proxy: CustomStringConvertible, CustomReflectable {
        /// The proxy's address, without user and password.
        public var description: String {
            switch self {
            case .direct: "direct"
            case .environment: "environment"
            case .http(let url, _, _): "http \(Self.withoutUserInfo(url))"
            case .socks5(let url, _, _): "socks5 \(Self.withoutUserInfo(url))"
            }
        }
        /// Shows no password.
        public var customMirror: Mirror { Mirror(self, children: ["proxy": description]) }

        /// In bytes, since an `@` with a combining mark after it is another character.
        private static func withoutUserInfo(_ url: String) -> String {
            guard let at = url.utf8.lastIndex(of: UInt8(ascii: "@")) else { return URLText.redacted(url) }
            return URLText.redacted(String(url[url.utf8.index(after: at)...]))
        }
    }
#endif
