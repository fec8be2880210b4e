#if os(Linux)
    internal import CCurl
    internal import Foundation
    import Glibc
    internal import MidstreamCore
    internal import MidstreamTransport
    internal import MidstreamLoop

    /// What a configuration means in curl's options: those that are the same for every request.
    ///
    /// `@unchecked Sendable`: everything is constant after `init`; curl only reads what the pointers lead to.
    final class ConnectionOptions: @unchecked Sendable {
        let configuration: TransportConfiguration
        /// Why no request can be sent, when the configuration can't be carried out.
        private(set) var problem: HTTPError?
        private var authorities: UnsafeMutablePointer<curl_blob>?
        /// Read by programs that use libcurl, and not by itself.
        private let environment = EnvironmentAuthorities()
        private var redirections: UnsafeMutablePointer<curl_slist>?
        /// What `Accept-Encoding` offers; nil: nothing, and nothing is decoded.
        let acceptEncoding: String?
        private let pinnedKeys: String?
        let proxy: ProxyOptions?
        let http3: HTTP3Choice
        /// Which addresses connections may be made to.
        let allowed: AllowedAddresses
        /// What it allows every transfer.
        let limits: TransferLimits

        /// - Throws: ``HTTPError`` when the authorities' file can't be read, which may be there later.
        init(_ configuration: TransportConfiguration) throws {
            self.configuration = configuration
            acceptEncoding =
                configuration.decompresses ? ContentCoding.offer(zstandard: configuration.offersZstandard) : nil
            let pins = configuration.tls.pinnedPublicKeys
            pinnedKeys = pins.isEmpty ? nil : pins.joined(separator: ";")
            proxy = ProxyOptions(configuration.proxy)
            http3 = HTTP3Choice(configuration)
            allowed = AllowedAddresses(configuration.destinations)
            limits = TransferLimits(
                configuration, forwardsPlainRequests: proxy.map { !$0.isSOCKS } ?? (configuration.proxy == .environment))
            if pins.contains(where: { !$0.hasPrefix("sha256//") }) {
                problem = .tls("A pinned public key must have the form sha256//….")
            }
            problem = problem ?? allowed.problem ?? http3.problem ?? Self.problem(configuration)
            for (origin, address) in configuration.hostOverrides {
                let isWithPort = address.hasPrefix("[") ? address.contains("]:") : address.contains(":")
                redirections = curl_slist_append(redirections, "\(origin):\(address)\(isWithPort ? "" : ":")")
            }
            try readAuthorities()
        }

        private static func problem(_ configuration: TransportConfiguration) -> HTTPError? {
            if configuration.destinations != .any, configuration.proxy != .direct { return .destinationsBehindProxy }
            if let problem = ProxyOptions(configuration.proxy)?.problem { return problem }
            if configuration.resolver != nil {
                return .unsupported("libcurl can't ask a resolver, which resolver is.")
            }
            if configuration.tls.keyLogPath != nil {
                return .unsupported("libcurl can't write a key log, which keyLog(to:) asks for.")
            }
            // Newer versions take that for none.
            if let client = configuration.tls.clientCertificate, client.isEmpty {
                return .tls("The client certificate \(client) has no bytes.")
            }
            if configuration.tls.clientCertificate?.reloading != nil {
                return .unsupported("libcurl can't go on with an old client certificate, which reloading asks for.")
            }
            if let address = configuration.localAddress, !AddressText.isAddress(address) {
                return HTTPError(.connection, "localAddress is no address of IPv4 or IPv6.", phase: .notSent)
            }
            return nil
        }

        /// Why no request can be sent as the environment is now, which libcurl reads for each.
        var environmentProblem: HTTPError? {
            guard case .environment = configuration.proxy, configuration.unixSocketPath == nil else { return nil }
            return EnvironmentProxies().problem
        }

        deinit {
            curl_slist_free_all(redirections)
            if let authorities {
                authorities.pointee.data.deallocate()
                authorities.deallocate()
            }
        }

        /// Sets all of it on a handle that has been reset.
        func apply(to handle: EasyHandle) {
            handle.set(CURLOPT_NOSIGNAL, 1)
            handle.set(CURLOPT_QUICK_EXIT, 1)
            handle.set(CURLOPT_PROTOCOLS_STR, "http,https")
            handle.set(CURLOPT_PATH_AS_IS, 1)
            handle.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
            handle.set(CURLOPT_TCP_KEEPALIVE, 1)
            handle.set(CURLOPT_ERRORBUFFER, pointer: handle.errorText)
            handle.set(CURLOPT_PRIVATE, pointer: handle.context)
            handle.set(CURLOPT_MAXAGE_CONN, configuration.idleConnectionLifetime.whole(.seconds(1)))
            if let age = configuration.maximumConnectionAge { handle.set(CURLOPT_MAXLIFETIME_CONN, age.whole(.seconds(1))) }
            // Zero would mean curl's own five minutes.
            handle.set(CURLOPT_CONNECTTIMEOUT_MS, configuration.connectTimeout?.whole(.milliseconds(1)) ?? Int(Int32.max))
            // What comes unasked on a kept connection is seen where that is known by its port (``KeptConnections``).
            if !configuration.keepsConnections || configuration.unixSocketPath != nil { handle.set(CURLOPT_FORBID_REUSE, 1) }
            if let path = configuration.unixSocketPath { handle.set(CURLOPT_UNIX_SOCKET_PATH, path) }
            // The prefix says that it is no interface's name.
            if let address = configuration.localAddress { handle.set(CURLOPT_INTERFACE, "host!\(address)") }
            if let redirections { handle.set(CURLOPT_CONNECT_TO, pointer: redirections) }
            applyProxy(to: handle)
        }

        /// Sets what concerns the versions and, for `https`, TLS.
        func apply(to handle: EasyHandle, isSecure: Bool) {
            switch http3.versions {
            case .automatic, .http3, .http3Only:
                handle.set(CURLOPT_HTTP_VERSION, isSecure ? http3.offer : Int(CURL_HTTP_VERSION_1_1))
                // Waiting for a connection to be shared would serialise the first requests over HTTP/1.1.
                if isSecure { handle.set(CURLOPT_PIPEWAIT, 1) }
            case .http1Only:
                handle.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
            case .http2PriorKnowledge:
                handle.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE))
                if !isSecure, !PlainHTTP2.keepsConnections {
                    handle.set(CURLOPT_FRESH_CONNECT, 1)
                    handle.set(CURLOPT_FORBID_REUSE, 1)
                } else {
                    handle.set(CURLOPT_PIPEWAIT, 1)
                }
            }
            guard isSecure else { return }
            applyTrust(to: handle, isForProxy: false)
            if let client = configuration.tls.clientCertificate { apply(client, to: handle) }
            if let pinnedKeys { handle.set(CURLOPT_PINNEDPUBLICKEY, pinnedKeys) }
        }

        private func apply(_ client: TLSConfiguration.ClientCertificate, to handle: EasyHandle) {
            switch client.contents {
            case .pem(let certificate, let key):
                handle.set(CURLOPT_SSLCERT, CURLOPT_SSLCERT_BLOB, certificate)
                handle.set(CURLOPT_SSLKEY, CURLOPT_SSLKEY_BLOB, key)
            case .pkcs12(let archive):
                handle.set(CURLOPT_SSLCERT, CURLOPT_SSLCERT_BLOB, archive)
                handle.set(CURLOPT_SSLCERTTYPE, "P12")
            }
            if let password = client.password { handle.set(CURLOPT_KEYPASSWD, password) }
        }

        private func applyProxy(to handle: EasyHandle) {
            if case .environment = configuration.proxy { return applyTrust(to: handle, isForProxy: true) }
            guard let proxy else { return handle.set(CURLOPT_PROXY, "") }
            if proxy.isSecure { applyTrust(to: handle, isForProxy: true) }
            handle.set(CURLOPT_PROXY, proxy.url)
            // Set, though it may be empty: the environment's no_proxy isn't asked then.
            handle.set(CURLOPT_NOPROXY, proxy.exceptions)
            if let credentials = proxy.credentials {
                handle.set(CURLOPT_PROXYUSERNAME, credentials.user)
                handle.set(CURLOPT_PROXYPASSWORD, credentials.password)
                handle.set(CURLOPT_PROXYAUTH, ccurl_basic_authentication())
            }
        }

        /// Whom TLS trusts: a proxy that is spoken to by it is checked as servers are, but for pins, and isn't told who the client is.
        private func applyTrust(to handle: EasyHandle, isForProxy: Bool) {
            let tls = configuration.tls
            handle.set(
                isForProxy ? CURLOPT_PROXY_SSLVERSION : CURLOPT_SSLVERSION,
                tls.minimumVersion == .tls1_3 ? Int(CURL_SSLVERSION_TLSv1_3) : Int(CURL_SSLVERSION_TLSv1_2))
            if let authorities {
                handle.set(isForProxy ? CURLOPT_PROXY_CAINFO_BLOB : CURLOPT_CAINFO_BLOB, pointer: authorities)
            }
            if tls.trustsSystemAuthorities {
                if let folders = environment.folders { handle.set(isForProxy ? CURLOPT_PROXY_CAPATH : CURLOPT_CAPATH, folders) }
                if let file = environment.file, authorities == nil {
                    handle.set(isForProxy ? CURLOPT_PROXY_CAINFO : CURLOPT_CAINFO, file)
                }
            } else {
                handle.set(isForProxy ? CURLOPT_PROXY_CAPATH : CURLOPT_CAPATH, nil)
                if authorities == nil { handle.set(isForProxy ? CURLOPT_PROXY_CAINFO : CURLOPT_CAINFO, nil) }
            }
            if !tls.verifiesCertificates {
                handle.set(isForProxy ? CURLOPT_PROXY_SSL_VERIFYPEER : CURLOPT_SSL_VERIFYPEER, 0)
                handle.set(isForProxy ? CURLOPT_PROXY_SSL_VERIFYHOST : CURLOPT_SSL_VERIFYHOST, 0)
            }
        }

        /// The file of the system's authorities where curl knows of no folder.
        private static var systemBundle: String? {
            guard let handle = EasyHandle(), handle.string(CURLINFO_CAPATH) == nil else { return nil }
            return handle.string(CURLINFO_CAINFO)
        }

        private static func contents(of path: String) throws -> [UInt8] {
            guard let contents = FileManager.default.contents(atPath: path) else {
                throw HTTPError.tls("The authorities' file \(path) can't be read.")
            }
            return [UInt8](contents)
        }

        private func readAuthorities() throws {
            guard let source = configuration.tls.authorities else { return }
            var pem: [UInt8]
            switch source {
            case .pem(let bytes): pem = bytes
            case .file(let path): pem = try Self.contents(of: path)
            }
            // Curl reads a folder besides the given authorities, and no file. The system may have none, which nobody has named.
            if configuration.tls.trustsSystemAuthorities,
                let system = try environment.file.map(Self.contents) ?? Self.systemBundle.flatMap({ try? Self.contents(of: $0) })
            {
                pem.append(UInt8(ascii: "\n"))
                pem += system
            }
            let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, pem.count), alignment: 1)
            copy.copyBytes(from: pem)
            guard let base = copy.baseAddress else { return }
            let blob = UnsafeMutablePointer<curl_blob>.allocate(capacity: 1)
            blob.initialize(to: curl_blob(data: base, len: pem.count, flags: UInt32(CURL_BLOB_NOCOPY)))
            authorities = blob
        }
    }

    extension EasyHandle {
        /// Sets the one option to a path or the other to a copy of bytes.
        fileprivate func set(
            _ path: CURLoption, _ blob: CURLoption, _ source: TLSConfiguration.ClientCertificate.Source
        ) {
            switch source {
            case .file(let file): set(path, file)
            case .bytes(var bytes):
                bytes.withUnsafeMutableBytes {
                    var value = curl_blob(data: $0.baseAddress, len: $0.count, flags: UInt32(CURL_BLOB_COPY))
                    set(blob, pointer: &value)
                }
            }
        }
    }

    /// A proxy that was configured by name.
    struct ProxyOptions: Sendable {
        let url: String
        let credentials: TransportConfiguration.Credentials?
        let exceptions: String

        init?(_ proxy: TransportConfiguration.Proxy) {
            switch proxy {
            case .direct, .environment: return nil
            case .http(let address, let credentials, let noProxy), .socks5(let address, let credentials, let noProxy):
                let isSOCKS = if case .socks5 = proxy { true } else { false }
                url = isSOCKS && !address.contains("://") ? "socks5h://\(address)" : address
                self.credentials = credentials
                exceptions = noProxy.joined(separator: ",")
            }
        }

        /// That its user's password has a `/`, `?` or `#`: libcurl would take what stands before that for the host and the port.
        var problem: HTTPError? {
            parts.hasLateUserInfo ? HTTPError(.proxy, "The address of the proxy isn't one.", phase: .notSent) : nil
        }

        var parts: URLText { URLText(url.contains("://") ? url : "http://\(url)") }

        /// Whether it is spoken to by TLS.
        var isSecure: Bool { url.lowercased().hasPrefix("https:") }

        /// Whether it forwards nothing.
        var isSOCKS: Bool { parts.scheme?.lowercased().hasPrefix("socks") == true }

        /// `host port number`, as it stands in curl's messages about the proxy.
        var nameInMessages: String { "\(parts.host ?? "") port \(parts.portText ?? "")" }

        /// Whether curl's words for a host that isn't found are about this SOCKS proxy.
        func isNotFound(by text: String) -> Bool {
            let host = (parts.host ?? "").lowercased()
            return isSOCKS && text.lowercased().split { $0 == " " || $0 == "," }.contains { $0 == host }
        }

        /// What must not be shown.
        var secrets: [String] {
            [credentials?.password, parts.userInfo.map(String.init)].compactMap { $0 }.filter { !$0.isEmpty }
        }
    }
#endif
