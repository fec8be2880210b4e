#if os(Linux)
    internal import CTLS
    internal import Foundation
    import Glibc
    internal import Interception
    internal import MidstreamCore
    internal import MidstreamTransport
    internal import MidstreamLoop

    /// A transport's settings for TLS, and the sessions that its servers have offered for resumption.
    ///
    /// `@unchecked Sendable`: OpenSSL's contexts may be used by several threads once they are set up, which they are after `init`; the sessions
    /// are behind a lock.
    final class TLSContext: @unchecked Sendable {
        let pointer: OpaquePointer
        let configuration: TLSConfiguration
        private let sessions = Locked(KeptSessions())
        /// What the secrets of sessions are written to.
        private let keyLog: KeyLog?

        /// - Throws: ``HTTPError`` with ``HTTPError/Code/tls`` for files that can't be read or aren't what they should be.
        init(_ configuration: TLSConfiguration) throws {
            keyLog = try configuration.keyLogPath.map { try KeyLog($0) }
            // Without it OpenSSL frees its memory when the process ends, while other threads may be using it.
            OPENSSL_init_ssl(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
            ERR_clear_error()
            guard let pointer = SSL_CTX_new(TLS_client_method()) else { throw HTTPError.tls("OpenSSL has no memory.") }
            self.pointer = pointer
            self.configuration = configuration
            let oldest = configuration.minimumVersion == .tls1_3 ? TLS1_3_VERSION : TLS1_2_VERSION
            SSL_CTX_ctrl(pointer, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(oldest), nil)
            SSL_CTX_ctrl(pointer, SSL_CTRL_MODE, Int(SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_RELEASE_BUFFERS), nil)
            SSL_CTX_ctrl(pointer, SSL_CTRL_SET_READ_AHEAD, 1, nil)
            // With pins alone a certificate still has to be valid, as in libcurl.
            SSL_CTX_set_verify(pointer, configuration.verifiesCertificates ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nil)
            SSL_CTX_ctrl(
                pointer, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL_STORE), nil)
            SSL_CTX_sess_set_new_cb(pointer) { ssl, session in
                guard let ssl, let session, let data = SSL_get_ex_data(ssl, 0) else { return 0 }
                let owner = Unmanaged<TLSSession>.fromOpaque(data).takeUnretainedValue()
                owner.context.sessions.withLock { $0.add(session, for: owner.peer) }
                // The session is kept.
                return 1
            }
            SSL_CTX_set_info_callback(pointer) { ssl, event, _ in
                guard event & SSL_CB_LOOP != 0, let ssl, let data = SSL_get_ex_data(ssl, 0) else { return }
                Unmanaged<TLSSession>.fromOpaque(data).takeUnretainedValue().noteStep()
            }
            if keyLog != nil {
                SSL_CTX_set_keylog_callback(pointer) { ssl, line in
                    guard let ssl, let line, let data = SSL_get_ex_data(ssl, 0) else { return }
                    Unmanaged<TLSSession>.fromOpaque(data).takeUnretainedValue().context.keyLog?.write(line)
                }
            }
            try addAuthorities()
            try addClientCertificate()
        }

        deinit {
            sessions.withLock { $0.removeAll() }
            SSL_CTX_free(pointer)
        }

        // MARK: Sessions

        /// A session to resume; each is given once (RFC 8446 §C.4).
        func takeSession(for peer: String) -> OpaquePointer? { sessions.withLock { $0.take(for: peer) } }

        // MARK: Certificates

        private func addAuthorities() throws {
            let store = SSL_CTX_get_cert_store(pointer)
            // An authority that was given is trusted, even when it isn't at the root.
            X509_STORE_set_flags(store, UInt(X509_V_FLAG_PARTIAL_CHAIN))
            if configuration.trustsSystemAuthorities, configuration.verifiesCertificates {
                let (file, folder) = try SystemAuthorities.find()
                if file != nil || folder != nil, SSL_CTX_load_verify_locations(pointer, file, folder) != 1 {
                    try Self.checkDescriptors()
                    if let given = EnvironmentAuthorities().file {
                        throw HTTPError.tls("SSL_CERT_FILE is \(given), which holds no certificate that can be read.")
                    }
                }
            }
            switch configuration.authorities {
            case nil: break
            case .pem(let bytes): try add(bytes, to: store, from: "The authorities hold")
            case .file(let path):
                guard let bytes = FileManager.default.contents(atPath: path) else {
                    try Self.checkDescriptors()
                    throw HTTPError.tls("The authorities' file \(path) can't be read.")
                }
                try add([UInt8](bytes), to: store, from: "The authorities' file \(path) holds")
            }
        }

        /// Tells a file that couldn't be opened just then from one that can't be read.
        ///
        /// - Throws: ``HTTPError`` when the system gives no descriptor.
        static func checkDescriptors() throws {
            if let lack = HostLookup.lackOfDescriptors() { throw HTTPError.noResources(lack) }
        }

        private func add(_ pem: [UInt8], to store: OpaquePointer?, from source: String) throws {
            let (count, isWhole) = pem.withUnsafeBytes { bytes in
                let input = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count))
                defer { BIO_free(input) }
                var count = 0
                while let certificate = PEM_read_bio_X509(input, nil, nil, nil) {
                    if X509_STORE_add_cert(store, certificate) == 1 { count += 1 }
                    X509_free(certificate)
                }
                // Otherwise it is one that can't be read that has stopped it, and those behind that would be left out.
                return (count, ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE)
            }
            ERR_clear_error()
            guard isWhole else { throw HTTPError.tls("\(source) a certificate that can't be read.") }
            guard count > 0 else { throw HTTPError.tls("\(source) no certificate.") }
        }

        private func addClientCertificate() throws {
            guard let client = configuration.clientCertificate else { return }
            do throws(ClientIdentity.Fault) {
                try ClientIdentity(client).use(in: pointer)
            } catch {
                try Self.checkDescriptors()
                // OpenSSL has no words for what the system says.
                for path in client.paths {
                    guard access(path, R_OK) != 0 else { continue }
                    throw HTTPError.tls(
                        "The client certificate's file \(path) can't be read: \(String(cString: strerror(errno))).")
                }
                throw HTTPError.tls("The client certificate \(client) can't be used: \(error.reason).")
            }
            // Servers ask only there for one that a part of their site wants, and only who has said that it may be (RFC 8446
            // §4.6.2). Over HTTP/2 none may (RFC 9113 §9.2.3).
            SSL_CTX_set_post_handshake_auth(pointer, 1)
        }
    }

    /// Sessions by the peer that has offered them, the newest last.
    private struct KeptSessions {
        /// How many are kept for one peer, and in all.
        private static let perPeer = 8
        private static let total = 4_096

        private var byPeer: [String: [OpaquePointer]] = [:]
        private var count = 0

        mutating func add(_ session: OpaquePointer, for peer: String) {
            if count >= Self.total { removeAll() }
            var kept = byPeer.removeValue(forKey: peer) ?? []
            if kept.count == Self.perPeer {
                SSL_SESSION_free(kept.removeFirst())
                count -= 1
            }
            kept.append(session)
            byPeer[peer] = kept
            count += 1
        }

        mutating func take(for peer: String) -> OpaquePointer? {
            while let session = byPeer[peer]?.popLast() {
                count -= 1
                if byPeer[peer]?.isEmpty == true { byPeer[peer] = nil }
                if SSL_SESSION_is_resumable(session) == 1 { return session }
                SSL_SESSION_free(session)
            }
            return nil
        }

        mutating func removeAll() {
            for session in byPeer.values.joined() { SSL_SESSION_free(session) }
            byPeer = [:]
            count = 0
        }
    }
#endif
