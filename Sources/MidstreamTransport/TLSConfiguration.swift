public import MidstreamCore

/// TLS settings: how servers and the client authenticate.
///
/// By default the system's authorities are trusted, and TLS 1.2 or newer is spoken. `WireTransport` can do all of it. libcurl can't write key
/// logs or reload certificates; nor can URLSession on Apple's platforms, and of client certificates it takes PKCS #12 alone. On Linux
/// URLSession can do nothing of it. A transport that lacks a setting makes every request fail with ``HTTPError/Code/tls`` or
/// ``HTTPError/Code/unsupported``.
public struct TLSConfiguration: Sendable {
    /// Certificates of authorities to trust, as PEM.
    public enum Authorities: Sendable, Hashable {
        /// A file, read with the first request; by URLSession when the transport is made. When it has changed it is read again only with a client
        /// certificate that is reloaded (``TLSConfiguration/ClientCertificate/reloading(_:every:onFailure:)``), and not for a TLS proxy.
        case file(String)
        /// The text itself.
        case pem([UInt8])
    }

    /// A certificate by which this client proves who it is, with its private key.
    public struct ClientCertificate: Sendable {
        /// Where a part of it is.
        package enum Source: Sendable, Hashable {
            case file(String)
            case bytes([UInt8])
        }

        package enum Contents: Sendable {
            /// As PEM (RFC 7468), with the certificates of its authorities after it.
            case pem(certificate: Source, key: Source)
            /// As PKCS #12 (RFC 7292).
            case pkcs12(Source)
        }

        /// How its files are looked at again.
        package struct Reloading: Sendable {
            package let interval: Duration
            package let onFailure: (@Sendable (HTTPError) -> Void)?
        }

        package let contents: Contents
        /// What tells it from others: its paths, or a digest of what is in memory.
        fileprivate let name: String
        /// Nil: they aren't.
        package private(set) var reloading: Reloading?
        /// The password of the key; nil for an unencrypted one. In no description.
        public var password: String?

        private init(_ contents: Contents, password: String?) {
            self.contents = contents
            self.password = password
            name =
                switch contents {
                case .pem(.bytes(let bytes), _), .pkcs12(.bytes(let bytes)):
                    ((try? DigestAlgorithm.sha256.digest(of: bytes)) ?? bytes).withUnsafeBytes { $0.hexadecimal }
                case .pem(.file(let certificate), .file(let key)): "\(certificate) \(key)"
                case .pem(.file(let path), _), .pkcs12(.file(let path)): path
                }
        }

        /// Takes the paths of PEM files (RFC 7468), which libcurl reads for each new connection, and the wire with the first
        /// request, unless it is ``reloading(_:every:onFailure:)``. URLSession can't use them.
        ///
        /// - Parameters:
        ///   - certificate: The path of the certificate, with those of its authorities after it.
        ///   - key: The path of the private key, which may be the same.
        ///   - password: The password of the key; nil for an unencrypted one.
        public init(certificate: String, key: String, password: String? = nil) {
            self.init(.pem(certificate: .file(certificate), key: .file(key)), password: password)
        }

        /// Takes PEM (RFC 7468) that is in memory, such as a secret that a service has given, or the data of a kubeconfig. URLSession can't use
        /// it.
        ///
        /// - Parameters:
        ///   - certificate: The certificate, with those of its authorities after it.
        ///   - key: The private key. In no description.
        ///   - password: The password of the key; nil for an unencrypted one.
        public init(certificate: [UInt8], key: [UInt8], password: String? = nil) {
            self.init(.pem(certificate: .bytes(certificate), key: .bytes(key)), password: password)
        }

        /// Takes the path of a PKCS #12 file, which libcurl and the wire read as they do PEM, URLSession when the transport is made. macOS
        /// keeps its contents in the user's keychain.
        public init(pkcs12 path: String, password: String?) {
            self.init(.pkcs12(.file(path)), password: password)
        }

        /// Takes a PKCS #12 archive that is in memory. macOS keeps its contents in the user's keychain.
        public init(pkcs12 archive: [UInt8], password: String?) {
            self.init(.pkcs12(.bytes(archive)), password: password)
        }

        /// Whether a part of it that is in memory has no bytes.
        package var isEmpty: Bool {
            switch contents {
            case .pem(let certificate, let key): certificate == .bytes([]) || key == .bytes([])
            case .pkcs12(let archive): archive == .bytes([])
            }
        }

        /// The paths of its files; none of one that is in memory.
        package var paths: [String] {
            let sources =
                switch contents {
                case .pem(let certificate, let key): [certificate, key]
                case .pkcs12(let archive): [archive]
                }
            return sources.compactMap { if case .file(let path) = $0 { path } else { nil } }
        }

        /// A certificate whose files others replace from time to time: they are looked at before a connection is made, and read when they have
        /// changed. New connections take the new certificate, and resume no session of the old one's; those that stand keep theirs until they
        /// end, at the latest when they have been idle for as long as the transport keeps them: one that is always busy outlives its
        /// certificate unless ``TransportConfiguration/maximumConnectionAge`` is set. Files that can't be used, such as a certificate whose key
        /// isn't there yet, leave the old one in use and are looked at again. A file of ``TLSConfiguration/authorities`` is looked at with
        /// them, and new connections trust what it has now.
        ///
        /// `WireTransport` can do this; libcurl and URLSession can't, and every request fails with ``HTTPError/Code/unsupported``.
        ///
        /// - Parameters:
        ///   - files: What to begin with. If it can't be used, requests fail until it can. What is in memory never changes.
        ///   - interval: How long the files aren't looked at again; 60 s by default. Without any that can be used: a second at most.
        ///   - onFailure: Told each time that files can't be used, on the thread of the request that had them looked at; it must not block.
        public static func reloading(
            _ files: ClientCertificate, every interval: Duration = .seconds(60),
            onFailure: (@Sendable (HTTPError) -> Void)? = nil
        ) -> ClientCertificate {
            var certificate = files
            certificate.reloading = Reloading(interval: interval, onFailure: onFailure)
            return certificate
        }
    }

    /// The oldest version to accept.
    public enum Version: Sendable, Hashable {
        /// TLS 1.2 (RFC 5246).
        case tls1_2
        /// TLS 1.3 (RFC 8446).
        case tls1_3
    }

    /// Authorities to trust besides the system's; none by default. One that can't be read makes every request fail with
    /// ``HTTPError/Code/tls``.
    public var authorities: Authorities?
    /// Whether the system's authorities are trusted; true by default. On Linux the environment's `SSL_CERT_FILE` and `SSL_CERT_DIR` name others
    /// than OpenSSL's, but not for URLSession.
    public var trustsSystemAuthorities: Bool
    /// How this client proves who it is; nil, not at all, by default.
    public var clientCertificate: ClientCertificate?
    /// SHA-256 digests of public keys (the SubjectPublicKeyInfo of RFC 5280 §4.1), base64, each as `sha256//…=`, one of which must be that of
    /// the server's own certificate, whatever host it is; none by default, which accepts any key.
    public var pinnedPublicKeys: [String]
    /// The oldest version to accept; TLS 1.2 by default.
    public var minimumVersion: Version
    /// Whether certificate and host name are checked; true by default. Only tests have a reason to turn it off.
    public var verifiesCertificates: Bool

    /// Where the secrets of sessions are written to; nil, nowhere, by default. See ``keyLog(to:)``.
    public private(set) var keyLogPath: String?

    /// The same, which adds the secrets of each session to a file, for programs such as Wireshark that decrypt what was recorded of a network (RFC
    /// 9850). Whoever reads the file can read all that was sent and received; it is made, or changed, to be readable by its owner alone. No
    /// environment variable turns it on, but libcurl itself obeys `SSLKEYLOGFILE`.
    ///
    /// `WireTransport` can do this; libcurl and URLSession can't, and every request fails with ``HTTPError/Code/unsupported``. A file that can't
    /// be written, and what is no regular file, makes every request fail with ``HTTPError/Code/tls``.
    public func keyLog(to path: String) -> TLSConfiguration {
        var configuration = self
        configuration.keyLogPath = path
        return configuration
    }

    /// Makes settings; every parameter's default is the property's.
    public init(
        authorities: Authorities? = nil, trustsSystemAuthorities: Bool = true, clientCertificate: ClientCertificate? = nil,
        pinnedPublicKeys: [String] = [], minimumVersion: Version = .tls1_2, verifiesCertificates: Bool = true
    ) {
        self.authorities = authorities
        self.trustsSystemAuthorities = trustsSystemAuthorities
        self.clientCertificate = clientCertificate
        self.pinnedPublicKeys = pinnedPublicKeys
        self.minimumVersion = minimumVersion
        self.verifiesCertificates = verifiesCertificates
    }
}

extension TLSConfiguration {
    /// Whose requests are that are sent with it: its client certificate's.
    package var identity: RequestIdentity {
        clientCertificate.map { .user("certificate \($0.name)") } ?? .nobody
    }

    /// Whether all settings are the defaults.
    package var isDefault: Bool {
        authorities == nil && trustsSystemAuthorities && clientCertificate == nil && pinnedPublicKeys.isEmpty
            && minimumVersion == .tls1_2 && verifiesCertificates && keyLogPath == nil
    }
}

extension TLSConfiguration.ClientCertificate: CustomStringConvertible, CustomReflectable {
    /// The path of the certificate, or that it is in memory.
    public var description: String { paths.first ?? "in memory" }
    /// Shows what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["certificate": description]) }
}
