public import MidstreamCore
public import MidstreamTransport

#if canImport(FoundationNetworking)
    internal import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// Sends requests with URLSession: the default transport of Apple's platforms, which also runs on Linux.
///
/// It follows no redirects, keeps no cookies, caches nothing and stores no credentials, whatever the configuration says; user
/// and password in a URL are left out. Encoded bodies (gzip, deflate, br; zstd on Linux and on Apple's systems from 26.3 on)
/// arrive decoded, and `Content-Encoding` and `Content-Length` are then taken out of the head. When the reader of a streamed
/// response is behind, its task is suspended on Apple's platforms, after which the session may still deliver some; on Linux the rest
/// waits in a file. Proxies, the oldest TLS version above 1.2 and the number of connections for each
/// host (six, when nothing else is said) are the configuration's.
///
/// Proxy and connection settings, protocol classes and further headers come from the `URLSessionConfiguration`.
///
/// ## Limitations
///
/// Everywhere:
/// - A repeated request field is sent as one, its values joined by `, ` (RFC 9110 §5.3) or, for `Cookie`, `; ` (RFC 6265 §5.4).
///   The order of fields isn't kept. Values are sent as UTF-8. URLSession adds `Accept`, `Accept-Language` and `User-Agent`
///   where the request has none.
/// - Received fields come in the order of their names, values of one name joined by `, `. `Set-Cookie` is taken apart again.
/// - `GET` with a body fails with ``HTTPError/Code/unsupported``. Trailers and interim responses aren't told. The version of HTTP isn't known when
///   the head comes, so a streamed response says HTTP/1.1.
///
/// Apple's platforms:
/// - A client certificate has to be PKCS #12. Authorities of one's own don't lift what App Transport Security demands.
/// - A response that is `text/plain`, or says no media type, comes when 512 bytes of its body are there, or all of it.
/// - `POST` without `Content-Type` is sent as `application/x-www-form-urlencoded`.
/// - `multipart/x-mixed-replace`, a camera's stream, fails with ``HTTPError/Code/unsupported`` at its second part: the system leaves out
///   the boundaries.
/// - A suspended task is a request to the session, not a promise: what it delivers all the same waits in memory, and past a limit
///   the response fails with ``HTTPError/Code/bodyTooLarge``.
/// - A background configuration can't be used: requests fail with ``HTTPError/Code/unsupported``.
/// - A WebSocket (RFC 6455) is the system's: without compression, and a message that is sent in chunks is kept until its last one. The body of a
///   refused upgrade isn't told. A request with any other `Upgrade` fails with ``HTTPError/Code/unsupported``, and on Linux each does.
///
/// Linux (swift-corelibs-foundation): **don't use it with servers that you don't trust**, for which there are the wire and libcurl.
/// Nothing here can prevent the following.
/// - Some responses **end the process**: a chunked one with trailers, one whose connection is closed within the head, and one with
///   `Content-Length: 9223372036854775807`.
/// - **An answer may be another request's**: what a server sends on an idle connection before it is asked is taken for the answer to the
///   next request there, whoever's that is.
/// - **What is cut passes for whole**: an encoded body that breaks off arrives as a short success, as does, with libcurl 7.88, one without
///   `Content-Length` and chunks that is cut under TLS.
/// - **A broken `Content-Length` isn't refused**: of several that differ the last counts, and one that is too large counts as none.
///
/// Linux, with any server:
/// - Certificates are checked by the system's rules alone: with any other ``TLSConfiguration`` requests fail with
///   ``HTTPError/Code/unsupported``.
/// - A `POST` whose kept connection dies under it may never end by itself; the client's timeout ends it.
/// - Cancelling ends the call at once, but the session may hold on to a connection with a spooled request body for 13 s more.
/// - Heads fail with ``HTTPError/Code/protocolViolation`` when a field isn't UTF-8, its colon is followed by no space, or the
///   status line has no space after the code. Of repeated fields whose names differ in case only the last one arrives.
/// - A task can't be suspended, and all sessions of the process share one queue. So what is received and not yet read goes to
///   an unnamed file in the temporary folder once more than the limit waits; past a limit of its own the response fails. And
///   a request body that is a stream is read to its end before anything is sent (to memory up to 512 KiB, else to such a
///   file). It then has a length and isn't sent chunked. A file that becomes shorter while it is sent stalls the request until it is cancelled.
/// - The head of a redirect arrives together with its body, which is kept in memory however long it is. The body of a redirect
///   without a usable `Location` is lost.
/// - The configuration's proxy is ignored, and the environment's (`http_proxy` …) is used. Where it names one for `https`, a streamed response
///   to an https URL may come only with the first piece of its body.
/// - Of the metrics only the time to the head and the total are known. The version of HTTP isn't told.
/// - The task's own causes have few codes: most failures of a connection in use are ``HTTPError/Code/connectionLost``.
public final class URLSessionTransport: HTTPTransport {
    /// How many bytes of a streamed response may wait in memory for their reader: 512 KiB.
    public static let defaultBufferLimit = 512 << 10

    /// How many bytes of a streamed response may wait for their reader past the buffer limit: 1 GiB in a temporary file on Linux,
    /// 64 MiB in memory elsewhere.
    public static let defaultSpoolLimit: Int64 = {
        #if canImport(FoundationNetworking)
            1 << 30
        #else
            64 << 20
        #endif
    }()

    /// Of the client certificate and of the further headers of the configuration, any of which may be a credential, but for `Accept`,
    /// `Accept-Encoding`, `Accept-Language` and `User-Agent`; `.nobody` where there are none.
    public let identity: RequestIdentity
    private let session: Session
    /// Why nothing can be sent.
    private let problem: HTTPError?
    private let limits: BodyLimits
    private let assumesHTTP3Capable: Bool

    /// Makes a transport with a session of its own.
    ///
    /// - Parameters:
    ///   - configuration: Copied; an ephemeral one by default. Its cookies, cache, credential storage and timeouts are
    ///     replaced: the client ends what takes too long, by cancelling.
    ///   - tls: How servers prove who they are, and how the client does; by default as the system has it, with TLS 1.2 or newer. Of the two
    ///     oldest versions of TLS, this one's and the configuration's, the newer counts. What can't be carried out makes each request fail
    ///     with ``HTTPError/Code/tls`` or ``HTTPError/Code/unsupported``.
    ///   - assumesHTTP3Capable: Whether servers are asked by HTTP/3 (RFC 9114) first, as `URLRequest.assumesHTTP3Capable` has it: the system
    ///     falls back to HTTP/2. Without it the system speaks HTTP/3 to servers that have offered it. On Linux, where URLSession has no
    ///     HTTP/3, each request fails with ``HTTPError/Code/unsupported``. False by default.
    ///   - bufferLimit: How many bytes of a streamed response may wait in memory for their reader.
    ///   - spoolLimit: How many more of them may wait: in a temporary file on Linux, where the sender can't be made to wait; in memory
    ///     elsewhere, where a session may go on delivering when it is asked to hold. A response that exceeds it fails with
    ///     ``HTTPError/Code/bodyTooLarge``.
    public init(
        configuration: URLSessionConfiguration = .ephemeral, tls: TLSConfiguration = TLSConfiguration(),
        assumesHTTP3Capable: Bool = false,
        bufferLimit: Int = URLSessionTransport.defaultBufferLimit,
        spoolLimit: Int64 = URLSessionTransport.defaultSpoolLimit
    ) {
        let isBackground = Self.isBackground(configuration)
        var problem =
            isBackground
            ? HTTPError.unsupported("A background configuration can't be used by this transport.") : nil
        let own = isBackground ? .ephemeral : (configuration.copy() as? URLSessionConfiguration) ?? .ephemeral
        own.httpShouldSetCookies = false
        own.httpCookieAcceptPolicy = .never
        own.httpCookieStorage = nil
        own.urlCache = nil
        own.urlCredentialStorage = nil
        own.requestCachePolicy = .reloadIgnoringLocalCacheData
        own.timeoutIntervalForRequest = OutgoingRequest.never
        own.timeoutIntervalForResource = OutgoingRequest.never
        let delegate: SessionDelegate
        #if canImport(Security)
            var trust: SessionTrust?
            do { trust = try SessionTrust(tls) } catch { problem = problem ?? error as? HTTPError }
            delegate = SessionDelegate(trust: trust)
            own.raiseVersion(to: tls.minimumVersion)
        #else
            delegate = SessionDelegate()
            if !tls.isDefault {
                problem = .unsupported(
                    "URLSession on Linux checks certificates by the system's rules alone; libcurl can do otherwise.")
            }
            if assumesHTTP3Capable {
                problem = .unsupported(
                    "URLSession on Linux has no HTTP/3, which assumesHTTP3Capable asks for; libcurl may have it.")
            }
        #endif
        self.assumesHTTP3Capable = assumesHTTP3Capable
        self.problem = problem
        identity = Self.identity(own, tls)
        session = Session(own, delegate: delegate)
        limits = BodyLimits(memory: max(1, bufferLimit), spool: max(0, spoolLimit))
    }

    /// Whether a session with the configuration would send from another process, which knows neither data tasks nor streamed bodies.
    private static func isBackground(_ configuration: URLSessionConfiguration) -> Bool {
        #if canImport(FoundationNetworking)
            false
        #else
            configuration.identifier != nil
        #endif
    }

    /// Whose requests are by what the session tells servers beside them.
    private static func identity(_ configuration: URLSessionConfiguration, _ tls: TLSConfiguration) -> RequestIdentity {
        let ofNobody = ["accept:", "accept-encoding:", "accept-language:", "user-agent:"]
        var parts = (configuration.httpAdditionalHeaders ?? [:]).map { "\("\($0.key)".lowercased()): \($0.value)" }
            .filter { field in !ofNobody.contains { field.hasPrefix($0) } }.sorted()
        if case .user(let certificate) = tls.identity { parts.insert(certificate, at: 0) }
        return parts.isEmpty ? .nobody : .user(parts.joined(separator: "\n"))
    }

    /// Lets responses that are still arriving come to their end.
    deinit { session.retire() }

    /// Sends one request; see ``HTTPTransport/send(_:)``.
    ///
    /// - Throws: ``HTTPError`` with the `URLError` behind it, what a streamed request body throws, or `CancellationError`, at
    ///   once in each phase; the session gives up the exchange meanwhile.
    public func send(_ request: HTTPRequest) async throws -> HTTPResponse { try await send(request, ExchangeOptions()) }

    /// Ends what is under way with ``HTTPError/Code/connectionLost``; later requests fail with ``HTTPError/Code/connection``.
    /// Harmless when repeated.
    public func close() { session.close() }
}

extension URLSessionTransport: ExchangeTransport {
    /// False: the session's own timers count something else.
    package var keepsTime: Bool { false }

    /// Sends one request; a buffered response comes with its body in memory.
    package func send(_ request: HTTPRequest, _ options: ExchangeOptions) async throws -> HTTPResponse {
        try Task.checkCancellation()
        if let problem { throw problem }
        if request.address != nil {
            throw HTTPError.unsupported(
                "URLSession can't connect to an address of one's own, which the request's address is.", request: request)
        }
        if !options.isChecked { try request.checkSendable() }
        #if canImport(FoundationNetworking)
            try request.refuseUpgrade(options, by: "URLSessionTransport on Linux")
            let proxies = EnvironmentProxies()
            if let problem = proxies.problem { throw problem }
            let outgoing = try await OutgoingRequest(request).spooled()
            let url = URLText(request.urlText)
            let isBehindProxy = url.webScheme == "https" && proxies.tunnels(to: url.host?.lowercased() ?? "")
        #else
            if options.delivery == .streamed, request.headers["Upgrade"]?.lowercased() == "websocket" {
                return try await SocketTask(request, OutgoingRequest(request.withoutUpgrade())).response(
                    startingWith: session.start)
            }
            try request.refuseUpgrade(options, by: "URLSessionTransport")
            let outgoing = try OutgoingRequest(request, assumesHTTP3Capable: assumesHTTP3Capable)
            let isBehindProxy = false
        #endif
        let exchange = Exchange(request, options.delivery, outgoing, limits: limits, isBehindProxy: isBehindProxy)
        return try await exchange.response(startingWith: session.start)
    }
}

extension URLSessionTransport: CustomReflectable {
    /// Shows the limits, not the session: its configuration may hold a proxy's password and header fields.
    public var customMirror: Mirror { Mirror(self, children: ["bufferLimit": limits.memory, "spoolLimit": limits.spool]) }
}
