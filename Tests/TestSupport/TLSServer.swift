#if os(Linux)
    import Foundation
    import Glibc

    /// The server's side of TLS, by the copy of OpenSSL that libcurl has loaded, or by the system's. It takes HTTP/2 (ALPN, RFC 7301) from a client
    /// that offers it.
    ///
    /// `@unchecked Sendable`: the context is made in `init` and not changed any more; OpenSSL counts its references itself.
    package final class TLSServer: @unchecked Sendable {
        package struct Unavailable: Error {}

        fileprivate let library: OpenSSL
        private let context: OpaquePointer

        /// - Parameters:
        ///   - certificate: The path of a PEM file.
        ///   - key: The path of a PEM file.
        ///   - offersHTTP2: Whether it takes HTTP/2 from a client that knows it.
        ///   - sendsTickets: Whether something follows the handshake (RFC 8446 §4.6.1).
        ///   - isOld: Whether TLS 1.2 is the newest version that it speaks.
        package init(
            certificate: String, key: String, offersHTTP2: Bool = true, sendsTickets: Bool = true, isOld: Bool = false
        ) throws {
            library = try OpenSSL()
            guard let context = library.newContext(library.serverMethod()) else { throw Unavailable() }
            self.context = context
            guard library.useCertificate(context, certificate) == 1, library.useKey(context, key, 1) == 1 else {
                throw Unavailable()
            }
            if !sendsTickets { _ = library.setTicketCount(context, 0) }
            // SSL_CTRL_SET_MAX_PROTO_VERSION.
            if isOld { _ = library.control(context, 124, 0x0303, nil) }
            guard offersHTTP2 else { return }
            library.setALPN(
                context,
                { _, chosen, length, offered, count, _ in
                    guard let chosen, let length, let offered else { return 3 }
                    let names = UnsafeBufferPointer(start: offered, count: Int(count))
                    var place = 0
                    while place < names.count {
                        let end = place + 1 + Int(names[place])
                        if end <= names.count, names[(place + 1)..<end].elementsEqual("h2".utf8) {
                            chosen.pointee = offered + place + 1
                            length.pointee = 2
                            return 0
                        }
                        place = end
                    }
                    // SSL_TLSEXT_ERR_NOACK: the connection goes on without.
                    return 3
                }, nil)
        }

        deinit { library.freeContext(context) }

        /// Makes the handshake; nil when that fails.
        fileprivate func newSession() -> OpaquePointer? { library.newSession(context) }
    }

    /// A connection under TLS; used on its own thread alone.
    final class TLSSession {
        private let server: TLSServer
        private let session: OpaquePointer

        /// Makes the handshake; nil when that fails.
        init?(_ server: TLSServer, descriptor: Int32) {
            // OpenSSL writes without MSG_NOSIGNAL, and the peer may be gone.
            var signals = sigset_t()
            sigemptyset(&signals)
            sigaddset(&signals, SIGPIPE)
            pthread_sigmask(SIG_BLOCK, &signals, nil)
            guard let session = server.newSession() else { return nil }
            guard server.library.setDescriptor(session, descriptor) == 1, server.library.accept(session) == 1 else {
                server.library.freeSession(session)
                return nil
            }
            self.server = server
            self.session = session
        }

        deinit { server.library.freeSession(session) }

        func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
            Int(server.library.read(session, buffer.baseAddress, Int32(clamping: buffer.count)))
        }

        /// Writes with other keys from now on, and asks the peer to do so, too.
        func updateKeys() {
            // SSL_KEY_UPDATE_REQUESTED.
            guard server.library.updateKeys(session, 1) == 1 else { return }
            _ = server.library.accept(session)
        }

        /// Asks the peer for another handshake, which comes while something is read.
        func renegotiate() {
            guard server.library.renegotiate(session) == 1 else { return }
            _ = server.library.accept(session)
        }

        /// Asks for the peer's certificate behind the handshake, and says whether one has come.
        func hasCertificate() -> Bool {
            let library = server.library
            // SSL_VERIFY_PEER; any certificate will do.
            library.setVerification(session, 1) { _, _ in 1 }
            guard library.askForCertificate(session) == 1, library.handshake(session) == 1 else { return false }
            // It comes while something is read: SSL_CTRL_CLEAR_MODE, SSL_MODE_AUTO_RETRY, for nothing else follows.
            _ = library.controlSession(session, 78, 4, nil)
            _ = library.peek(session, nil, 0)
            return library.certificate(session) != nil
        }

        /// Says that nothing more is written.
        func end() { _ = server.library.shutdown(session) }

        func write(_ buffer: UnsafeRawBufferPointer) -> Int {
            Int(server.library.write(session, buffer.baseAddress, Int32(clamping: buffer.count)))
        }
    }

    /// The functions of libssl that are needed. By their names, so that no headers are.
    ///
    /// `@unchecked Sendable`: constants that lead to code.
    private struct OpenSSL: @unchecked Sendable {
        typealias ChooseProtocol =
            @convention(c) (
                OpaquePointer?, UnsafeMutablePointer<UnsafePointer<UInt8>?>?, UnsafeMutablePointer<UInt8>?, UnsafePointer<UInt8>?,
                UInt32, UnsafeMutableRawPointer?
            ) -> Int32

        let serverMethod: @convention(c) () -> OpaquePointer?
        let newContext: @convention(c) (OpaquePointer?) -> OpaquePointer?
        let freeContext: @convention(c) (OpaquePointer?) -> Void
        let useCertificate: @convention(c) (OpaquePointer?, UnsafePointer<CChar>?) -> Int32
        let useKey: @convention(c) (OpaquePointer?, UnsafePointer<CChar>?, Int32) -> Int32
        let setTicketCount: @convention(c) (OpaquePointer?, Int) -> Int32
        let control: @convention(c) (OpaquePointer?, Int32, Int, UnsafeMutableRawPointer?) -> Int
        let setALPN: @convention(c) (OpaquePointer?, ChooseProtocol, UnsafeMutableRawPointer?) -> Void
        let newSession: @convention(c) (OpaquePointer?) -> OpaquePointer?
        let freeSession: @convention(c) (OpaquePointer?) -> Void
        let setDescriptor: @convention(c) (OpaquePointer?, Int32) -> Int32
        let accept: @convention(c) (OpaquePointer?) -> Int32
        let read: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?, Int32) -> Int32
        let write: @convention(c) (OpaquePointer?, UnsafeRawPointer?, Int32) -> Int32
        let updateKeys: @convention(c) (OpaquePointer?, Int32) -> Int32
        let renegotiate: @convention(c) (OpaquePointer?) -> Int32
        let setVerification: @convention(c) (OpaquePointer?, Int32, @convention(c) (Int32, OpaquePointer?) -> Int32) -> Void
        let askForCertificate: @convention(c) (OpaquePointer?) -> Int32
        let handshake: @convention(c) (OpaquePointer?) -> Int32
        let controlSession: @convention(c) (OpaquePointer?, Int32, Int, UnsafeMutableRawPointer?) -> Int
        let peek: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?, Int32) -> Int32
        let certificate: @convention(c) (OpaquePointer?) -> OpaquePointer?
        let shutdown: @convention(c) (OpaquePointer?) -> Int32

        init() throws {
            guard let library = dlopen("libssl.so.3", RTLD_NOW) else { throw TLSServer.Unavailable() }
            func find<Function>(_ name: String, _ type: Function.Type = Function.self) throws -> Function {
                guard let symbol = dlsym(library, name) else { throw TLSServer.Unavailable() }
                return unsafeBitCast(symbol, to: type)
            }
            serverMethod = try find("TLS_server_method")
            newContext = try find("SSL_CTX_new")
            freeContext = try find("SSL_CTX_free")
            useCertificate = try find("SSL_CTX_use_certificate_chain_file")
            useKey = try find("SSL_CTX_use_PrivateKey_file")
            setTicketCount = try find("SSL_CTX_set_num_tickets")
            control = try find("SSL_CTX_ctrl")
            setALPN = try find("SSL_CTX_set_alpn_select_cb")
            newSession = try find("SSL_new")
            freeSession = try find("SSL_free")
            setDescriptor = try find("SSL_set_fd")
            accept = try find("SSL_accept")
            read = try find("SSL_read")
            write = try find("SSL_write")
            updateKeys = try find("SSL_key_update")
            renegotiate = try find("SSL_renegotiate")
            setVerification = try find("SSL_set_verify")
            askForCertificate = try find("SSL_verify_client_post_handshake")
            handshake = try find("SSL_do_handshake")
            controlSession = try find("SSL_ctrl")
            peek = try find("SSL_peek")
            certificate = try find("SSL_get0_peer_certificate")
            shutdown = try find("SSL_shutdown")
        }
    }
#endif
