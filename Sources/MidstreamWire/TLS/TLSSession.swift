#if os(Linux)
    internal import CTLS
    internal import Foundation
    import Glibc
    internal import MidstreamCore
    internal import MidstreamLoop
    internal import MidstreamTransport

    /// TLS on one connection, or within the TLS that leads to a proxy. Its bytes go through memory; a channel moves them.
    ///
    /// Touched only on its loop's thread.
    final class TLSSession {
        enum Progress {
            case done
            /// More has to be received first.
            case wait
            /// The connection has ended.
            case cut
            case failed(String)
        }

        enum Reading {
            case bytes(Int)
            case wait
            /// The other side has ended TLS.
            case ended
            /// The connection has ended, and TLS hasn't.
            case cut
            case failed(String)
        }

        /// How many steps of TLS's own there may be within the time of a flood. The first handshake takes some twenty, new keys take five.
        private static let mostSteps = 4_000
        /// In nanoseconds: 10 s.
        private static let timeOfFlood: UInt64 = 10_000_000_000

        /// `SSL_OP_NO_RENEGOTIATION`, a macro.
        private static let noRenegotiation: UInt64 = 1 << 30

        let context: TLSContext
        /// Whose sessions can be resumed.
        let peer: String
        /// What its bytes go through: TLS to a proxy, whose handshake is done.
        private let outer: TLSSession?
        /// Whether the other side is a proxy, and no server.
        let isForProxy: Bool
        /// What has been made and the outer one hasn't taken.
        private(set) var unwrapped: [UInt8] = []
        private var steps = 0
        /// Since when they are counted, in nanoseconds of the monotonic clock.
        private var stepsSince: UInt64 = 0
        private let ssl: OpaquePointer
        private let input: OpaquePointer
        private let output: OpaquePointer

        /// - Parameters:
        ///   - host: The name or address, without brackets, that the certificate has to be for.
        ///   - peer: What sessions are kept by.
        ///   - protocols: What is offered to be spoken, the best first (RFC 7301).
        init(
            _ context: TLSContext, host: String, peer: String, protocols: [String], isForProxy: Bool = false,
            through outer: TLSSession? = nil
        ) throws(HTTPError) {
            guard let ssl = SSL_new(context.pointer), let input = BIO_new(BIO_s_mem()), let output = BIO_new(BIO_s_mem()) else {
                throw HTTPError.noResources(ENOMEM)
            }
            self.context = context
            self.peer = peer
            self.isForProxy = isForProxy
            self.outer = outer
            self.ssl = ssl
            self.input = input
            self.output = output
            // An empty one means "later", not "ended".
            BIO_ctrl(input, BIO_C_SET_BUF_MEM_EOF_RETURN, -1, nil)
            BIO_ctrl(output, BIO_C_SET_BUF_MEM_EOF_RETURN, -1, nil)
            SSL_set_bio(ssl, input, output)
            SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque())
            try setPeer(host)
            if let session = context.takeSession(for: peer) {
                SSL_set_session(ssl, session)
                SSL_SESSION_free(session)
            }
            let offer = protocols.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
            SSL_set_alpn_protos(ssl, offer, UInt32(offer.count))
            SSL_set_connect_state(ssl)
        }

        deinit {
            SSL_set_ex_data(ssl, 0, nil)
            SSL_free(ssl)
        }

        /// - Throws: When it can't be kept: OpenSSL would take any name, and those of all subdomains for one that begins with a dot.
        private func setPeer(_ host: String) throws(HTTPError) {
            if AddressText.isAddress(host) {
                guard X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) == 1 else { throw HTTPError.noResources(ENOMEM) }
                return
            }
            // A name's last dot says that it is absolute; certificates have none.
            let name = host.hasSuffix(".") ? String(host.dropLast()) : host
            guard !name.isEmpty, !name.hasPrefix(".") else { throw HTTPError.tls("The URL's host is no name.") }
            // A subject's common name is nobody's (RFC 9110 §4.3.4).
            SSL_set_hostflags(ssl, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT))
            guard SSL_set1_host(ssl, name) == 1 else { throw HTTPError.noResources(ENOMEM) }
            name.withCString { pointer in
                _ = SSL_ctrl(
                    ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name), UnsafeMutableRawPointer(mutating: pointer))
            }
        }

        // MARK: The handshake

        func handshake() -> Progress {
            ERR_clear_error()
            let result = SSL_do_handshake(ssl)
            if result == 1 {
                // Requests of others would be under way meanwhile (RFC 9113 §9.2.1).
                if chosenProtocol == "h2" { SSL_set_options(ssl, Self.noRenegotiation) }
                return checkPins()
            }
            let error = SSL_get_error(ssl, result)
            if error == SSL_ERROR_WANT_READ { return .wait }
            return isCut(error) ? .cut : .failed(failure())
        }

        private func checkPins() -> Progress {
            let pins = context.configuration.pinnedPublicKeys
            guard !pins.isEmpty else { return .done }
            guard let certificate = SSL_get1_peer_certificate(ssl) else { return .failed("The server has no certificate.") }
            defer { X509_free(certificate) }
            var der: UnsafeMutablePointer<UInt8>?
            let length = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &der)
            guard length > 0, let der else { return .failed("The public key of the server can't be read.") }
            defer { CRYPTO_free(der, #file, #line) }
            var digest = [UInt8](repeating: 0, count: 32)
            EVP_Digest(der, Int(length), &digest, nil, EVP_sha256(), nil)
            let pin = "sha256//\(Data(digest).base64EncodedString())"
            return pins.contains(pin) ? .done : .failed("The server's public key isn't one of the pinned ones.")
        }

        /// Why the handshake, or the session, has failed: a bad certificate by its fault.
        private func failure() -> String {
            let noted = TLSErrors.takeFirst()
            let verdict = SSL_get_verify_result(ssl)
            if verdict != Int(X509_V_OK), context.configuration.verifiesCertificates,
                let text = X509_verify_cert_error_string(verdict)
            {
                return "The server's certificate isn't accepted: \(String(cString: text))."
            }
            return "TLS failed: \(noted ?? "the connection was closed")."
        }

        /// What the server has chosen to speak; nil: it doesn't choose.
        var chosenProtocol: String? {
            var (name, length): (UnsafePointer<UInt8>?, UInt32) = (nil, 0)
            SSL_get0_alpn_selected(ssl, &name, &length)
            return length == 0 ? nil : String(decoding: UnsafeBufferPointer(start: name, count: Int(length)), as: UTF8.self)
        }

        /// Whether the handshake went on with an earlier session.
        var isResumed: Bool { SSL_session_reused(ssl) == 1 }

        /// Such as `TLSv1.3`.
        var version: String { SSL_get_version(ssl).map { String(cString: $0) } ?? "TLS" }

        /// Notes a step of a handshake, or of what a server may ask for after it: other keys, sessions to be kept, another handshake.
        func noteStep() {
            let now = MonotonicTime.now()
            if now - stepsSince > Self.timeOfFlood { (steps, stepsSince) = (0, now) }
            steps += 1
            // The rest of what was received would take as long again.
            if isFlooded { BIO_ctrl(input, BIO_CTRL_RESET, 0, nil) }
        }

        private var isFlooded: Bool { steps > Self.mostSteps }

        // MARK: Bytes

        /// Takes what has been received.
        func feed(_ bytes: UnsafeRawBufferPointer) {
            guard let outer else { return take(bytes) }
            outer.feed(bytes)
            unwrap(outer)
        }

        private func take(_ bytes: UnsafeRawBufferPointer) { _ = BIO_write(input, bytes.baseAddress, Int32(bytes.count)) }

        /// Takes what the outer one has: no more than it was fed with.
        private func unwrap(_ outer: TLSSession) {
            withUnsafeTemporaryAllocation(byteCount: Self.recordSize, alignment: 16) { buffer in
                while true {
                    switch outer.read(into: buffer) {
                    case .bytes(let count): take(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                    case .wait: return
                    case .ended, .cut, .failed: return end()
                    }
                }
            }
        }

        /// A record's most bytes (RFC 8446 §5.1).
        private static let recordSize = 16 << 10

        /// Whether something has been received that nobody has read.
        var hasInput: Bool { BIO_ctrl_pending(input) > 0 || SSL_has_pending(ssl) == 1 || outer?.hasInput == true }

        /// Notes that nothing more will be received.
        func feedEnd() {
            guard let outer else { return end() }
            outer.feedEnd()
            unwrap(outer)
        }

        private func end() { BIO_ctrl(input, BIO_C_SET_BUF_MEM_EOF_RETURN, 0, nil) }

        /// Gives what has been received, in the clear.
        func read(into buffer: UnsafeMutableRawBufferPointer) -> Reading {
            ERR_clear_error()
            let count = SSL_read(ssl, buffer.baseAddress, Int32(clamping: buffer.count))
            if count > 0 { return .bytes(Int(count)) }
            let error = SSL_get_error(ssl, count)
            switch error {
            case SSL_ERROR_WANT_READ:
                return isFlooded ? .failed("TLS failed: the server sends too many messages of TLS's own.") : .wait
            case SSL_ERROR_ZERO_RETURN: return .ended
            default: return isCut(error) ? .cut : .failed(failure())
            }
        }

        /// Whether it is the connection's end that an error tells of.
        private func isCut(_ error: Int32) -> Bool {
            error == SSL_ERROR_SYSCALL
                || error == SSL_ERROR_SSL && ERR_GET_REASON(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING
        }

        /// Takes bytes to be sent; gives how many. What they become is ``output(into:)``'s.
        func write(_ bytes: UnsafeRawBufferPointer) -> Int {
            guard !bytes.isEmpty else { return 0 }
            ERR_clear_error()
            return max(0, Int(SSL_write(ssl, bytes.baseAddress, Int32(clamping: bytes.count))))
        }

        /// Adds what is to be sent over the connection to `bytes`.
        func takeOutput(into bytes: inout [UInt8]) {
            guard let outer else { return takeOwnOutput(into: &bytes) }
            takeOwnOutput(into: &unwrapped)
            wrap(by: outer)
            outer.takeOutput(into: &bytes)
        }

        /// Whether the outer one takes nothing before it has received something.
        var isHeldUp: Bool { !unwrapped.isEmpty }

        /// Gives the outer one what was made.
        private func wrap(by outer: TLSSession) {
            var taken = 0
            while taken < unwrapped.count {
                let count = unwrapped.withUnsafeBytes { outer.write(UnsafeRawBufferPointer(rebasing: $0[taken...])) }
                guard count > 0 else { break }
                taken += count
            }
            unwrapped.removeFirst(taken)
        }

        private func takeOwnOutput(into bytes: inout [UInt8]) {
            let waiting = BIO_ctrl_pending(output)
            guard waiting > 0 else { return }
            withUnsafeTemporaryAllocation(byteCount: waiting, alignment: 1) { room in
                let count = BIO_read(output, room.baseAddress, Int32(waiting))
                bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: room[..<Int(max(0, count))]))
            }
        }

        /// Says that nothing more will be sent.
        func shutdown() {
            ERR_clear_error()
            SSL_shutdown(ssl)
            guard let outer else { return }
            takeOwnOutput(into: &unwrapped)
            wrap(by: outer)
            outer.shutdown()
        }
    }
#endif
