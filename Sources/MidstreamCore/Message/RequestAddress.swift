extension HTTPRequest {
    /// Where the request's connection leads, whatever addresses the name of its URL's host has: `10.1.2.3`, `[fd00::1]`, or with a port
    /// `10.1.2.3:8443`. Nil, what the name says, by default. The name stays what `Host`, SNI and the check of the certificate say, and what
    /// credentials, cookies and caches go by. Connections are shared with requests of the same address alone.
    ///
    /// A redirect to another origin removes it, as does a page or the place of an upload there; an interceptor that changes the host should,
    /// too. What is no address fails with ``HTTPError/Code/invalidRequest``. Through a proxy or a unix domain socket, and by a URLSession, such
    /// a request can't be sent and fails with ``HTTPError/Code/unsupported``.
    public var address: String? {
        get { carries(AddressKey.self) ? context[AddressKey.self] : nil }
        set { context[AddressKey.self] = newValue }
    }
}

enum AddressKey: RequestContextKey { static var defaultValue: String? { nil } }
