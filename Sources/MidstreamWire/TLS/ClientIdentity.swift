#if os(Linux)
    internal import CTLS
    import Foundation
    internal import MidstreamTransport

    /// A client's certificate with its key and the certificates of its authorities, as OpenSSL has them.
    struct ClientIdentity: ~Copyable {
        /// Why it can't be used, with OpenSSL's words if it has noted any.
        struct Fault: Error {
            let reason: String

            fileprivate init(_ reason: String) { self.reason = reason + (TLSErrors.takeFirst().map { " (\($0))" } ?? "") }
        }

        private var certificate: OpaquePointer?
        private var key: OpaquePointer?
        private var chain: OpaquePointer?

        init(_ client: TLSConfiguration.ClientCertificate) throws(Fault) {
            let password = client.password ?? ""
            switch client.contents {
            case .pem(let certificate, let key):
                guard certificate.read({ readCertificates($0) }) else { throw Fault("it holds no certificate that can be read") }
                guard key.read({ readKey($0, password) }) else { throw Fault("no private key is there that the password opens") }
            case .pkcs12(let archive):
                guard archive.read({ readArchive($0, password) }) else { throw Fault("it is no archive that the password opens") }
            }
        }

        deinit {
            EVP_PKEY_free(key)
            X509_free(certificate)
            OPENSSL_sk_pop_free(chain) { X509_free($0.map { OpaquePointer($0) }) }
        }

        /// Has a context show it. The context has references of its own.
        borrowing func use(in context: OpaquePointer) throws(Fault) {
            guard key != nil else { throw Fault("it has no key") }
            guard SSL_CTX_use_cert_and_key(context, certificate, key, chain, 1) == 1, SSL_CTX_check_private_key(context) == 1
            else { throw Fault("the certificate and the key don't go together") }
        }

        private mutating func readCertificates(_ pem: UnsafeRawBufferPointer) -> Bool {
            let input = BIO_new_mem_buf(pem.baseAddress, Int32(clamping: pem.count))
            defer { BIO_free(input) }
            certificate = PEM_read_bio_X509_AUX(input, nil, nil, nil)
            guard certificate != nil else { return false }
            chain = OPENSSL_sk_new_null()
            while let authority = PEM_read_bio_X509(input, nil, nil, nil) {
                OPENSSL_sk_push(chain, UnsafeRawPointer(authority))
            }
            // Otherwise it is one that can't be read that has stopped it, and those behind that would be left out.
            guard ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE else { return false }
            ERR_clear_error()
            return true
        }

        private mutating func readKey(_ pem: UnsafeRawBufferPointer, _ password: String) -> Bool {
            let input = BIO_new_mem_buf(pem.baseAddress, Int32(clamping: pem.count))
            defer { BIO_free(input) }
            // Without a password, were it an empty one, OpenSSL would ask at the terminal.
            key = password.withCString { PEM_read_bio_PrivateKey(input, nil, nil, UnsafeMutableRawPointer(mutating: $0)) }
            return key != nil
        }

        private mutating func readArchive(_ bytes: UnsafeRawBufferPointer, _ password: String) -> Bool {
            var start = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
            guard let archive = d2i_PKCS12(nil, &start, bytes.count) else { return false }
            defer { PKCS12_free(archive) }
            return PKCS12_parse(archive, password, &key, &certificate, &chain) == 1
        }
    }

    extension TLSConfiguration.ClientCertificate.Source {
        /// Whether it is there and `body` says yes.
        fileprivate func read(_ body: (UnsafeRawBufferPointer) -> Bool) -> Bool {
            switch self {
            case .file(let path): FileManager.default.contents(atPath: path)?.withUnsafeBytes(body) ?? false
            case .bytes(let bytes): bytes.withUnsafeBytes(body)
            }
        }
    }
#endif
