#if canImport(Security)
    internal import CryptoKit
    internal import Foundation
    internal import MidstreamCore
    internal import MidstreamTransport
    internal import Security

    /// What a session does when it is asked whether a server is the right one, and who this client is.
    ///
    /// `@unchecked Sendable`: everything is constant after `init`, and certificates and identities are objects that never change.
    final class SessionTrust: @unchecked Sendable {
        /// How a challenge is answered.
        enum Answer {
            case byDefault
            case credential(URLCredential)
            case refusal(String)
        }

        private let tls: TLSConfiguration
        private let anchors: [SecCertificate]
        private let pins: Set<Data>
        private let identity: URLCredential?

        /// nil when the system needn't be told anything.
        ///
        /// - Throws: ``HTTPError`` when the configuration can't be carried out.
        init?(_ tls: TLSConfiguration) throws {
            if tls.isDefault { return nil }
            if tls.keyLogPath != nil {
                throw HTTPError.unsupported("URLSession can't write a key log, which keyLog(to:) asks for.")
            }
            if tls.clientCertificate?.reloading != nil {
                throw HTTPError.unsupported("URLSession can't replace a client certificate, which reloading asks for.")
            }
            self.tls = tls
            anchors = try Self.anchors(tls.authorities)
            pins = try Set(tls.pinnedPublicKeys.map(Self.digest))
            identity = try tls.clientCertificate.map(Self.identity)
        }

        func answer(_ challenge: URLAuthenticationChallenge) -> Answer {
            switch challenge.protectionSpace.authenticationMethod {
            case NSURLAuthenticationMethodServerTrust:
                guard let trust = challenge.protectionSpace.serverTrust else { return .byDefault }
                if tls.verifiesCertificates, !isVerified(trust) { return .refusal("The server's certificate isn't trusted.") }
                if !pins.isEmpty, !hasPinnedKey(trust) {
                    return .refusal("The server's public key isn't among those that are pinned.")
                }
                return .credential(URLCredential(trust: trust))
            case NSURLAuthenticationMethodClientCertificate:
                // Asked again after a refusal, there is nothing else to offer.
                return challenge.previousFailureCount == 0 ? identity.map { .credential($0) } ?? .byDefault : .byDefault
            default: return .byDefault
            }
        }

        /// By the rules that the session has set, the host's name among them.
        private func isVerified(_ trust: SecTrust) -> Bool {
            if tls.authorities != nil || !tls.trustsSystemAuthorities {
                guard SecTrustSetAnchorCertificates(trust, anchors as CFArray) == errSecSuccess,
                    SecTrustSetAnchorCertificatesOnly(trust, !tls.trustsSystemAuthorities) == errSecSuccess
                else { return false }
            }
            return SecTrustEvaluateWithError(trust, nil)
        }

        private func hasPinnedKey(_ trust: SecTrust) -> Bool {
            guard let chain = SecTrustCopyCertificateChain(trust) as? [SecCertificate], let own = chain.first,
                let key = PublicKeyInfo.bytes(ofCertificate: [UInt8](SecCertificateCopyData(own) as Data))
            else { return false }
            return pins.contains(Data(SHA256.hash(data: Data(key))))
        }

        private static func anchors(_ authorities: TLSConfiguration.Authorities?) throws -> [SecCertificate] {
            let text: Data
            switch authorities {
            case nil: return []
            case .pem(let bytes): text = Data(bytes)
            case .file(let path):
                guard let bytes = FileManager.default.contents(atPath: path) else {
                    throw HTTPError.tls("The authorities' file \(path) can't be read.")
                }
                text = bytes
            }
            let certificates = CertificateText.certificates(in: String(decoding: text, as: UTF8.self))?
                .map { SecCertificateCreateWithData(nil, $0 as CFData) }
            guard let certificates, !certificates.isEmpty, !certificates.contains(where: { $0 == nil }) else {
                throw HTTPError.tls("The authorities to trust aren't certificates as PEM.")
            }
            return certificates.compactMap { $0 }
        }

        private static func digest(_ pin: String) throws -> Data {
            guard pin.hasPrefix("sha256//"), let digest = Data(base64Encoded: String(pin.dropFirst(8))), digest.count == 32 else {
                throw HTTPError.tls("A pinned public key must have the form sha256//….")
            }
            return digest
        }

        private static func identity(_ client: TLSConfiguration.ClientCertificate) throws -> URLCredential {
            let archive: Data
            switch client.contents {
            case .pem: throw HTTPError.unsupported("A client certificate as PEM can't be used by URLSession; PKCS #12 can.")
            case .pkcs12(.bytes(let bytes)): archive = Data(bytes)
            case .pkcs12(.file(let path)):
                guard let bytes = FileManager.default.contents(atPath: path) else {
                    throw HTTPError.tls("The client certificate \(path) can't be read.")
                }
                archive = bytes
            }
            let options = [kSecImportExportPassphrase as String: client.password ?? ""]
            var items: CFArray?
            guard SecPKCS12Import(archive as CFData, options as CFDictionary, &items) == errSecSuccess,
                let first = (items as? [[String: Any]])?.first, let identity = first[kSecImportItemIdentity as String]
            else { throw HTTPError.tls("The client certificate \(client) can't be opened.") }
            // A cast to a type of Core Foundation's asks nothing by itself.
            let object = identity as AnyObject
            guard CFGetTypeID(object) == SecIdentityGetTypeID() else {
                throw HTTPError.tls("The client certificate \(client) holds no private key.")
            }
            let chain = first[kSecImportItemCertChain as String] as? [Any] ?? []
            return URLCredential(
                identity: unsafeDowncast(object, to: SecIdentity.self), certificates: Array(chain.dropFirst()),
                persistence: .forSession)
        }
    }

    extension URLSessionConfiguration {
        /// Has it accept no older version of TLS than that.
        func raiseVersion(to version: TLSConfiguration.Version) {
            let oldest: tls_protocol_version_t = version == .tls1_3 ? .TLSv13 : .TLSv12
            if tlsMinimumSupportedProtocolVersion.rawValue < oldest.rawValue { tlsMinimumSupportedProtocolVersion = oldest }
        }
    }
#endif
