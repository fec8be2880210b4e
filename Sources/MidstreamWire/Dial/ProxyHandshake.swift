#if os(Linux)
    internal import MidstreamCore
    internal import MidstreamLoop
    internal import MidstreamTransport

    /// What is said to a proxy before the connection leads to its origin.
    protocol ProxyHandshake {
        /// What is sent first.
        func opening() -> [UInt8]
        /// Takes what the proxy has sent off the input.
        ///
        /// - Throws: When the proxy refuses, or says what makes no sense.
        mutating func next(_ input: inout [UInt8]) throws(HTTPError) -> ProxyStep
    }

    enum ProxyStep {
        /// The proxy has more to say.
        case wait
        case send([UInt8])
        case done
    }

    /// A tunnel through an HTTP proxy (RFC 9110 §9.3.6).
    struct Tunnel: ProxyHandshake {
        let authority: String
        let authorization: String?
        private(set) var interim = 0

        func opening() -> [UInt8] {
            let field = authorization.map { "Proxy-Authorization: \($0)\r\n" } ?? ""
            return Array("CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n\(field)\r\n".utf8)
        }

        mutating func next(_ input: inout [UInt8]) throws(HTTPError) -> ProxyStep {
            var status: Int?
            var challenge: String?
            var violation: String?
            let rest = input.withUnsafeBytes { bytes in
                var bytes = bytes
                var reader = ResponseReader()
                while status == nil, violation == nil {
                    switch reader.next(&bytes) {
                    case .head(let head, let code):
                        if code >= 200 { status = code } else { interim += 1 }
                        if interim > HeadReader.interimLimit { violation = HeadReader.Fault.tooManyInterim.message }
                        if code == 407 { challenge = Self.challenge(in: head) }
                    case .violation(let text): violation = text
                    default: return bytes.count
                    }
                }
                return bytes.count
            }
            input.removeFirst(input.count - rest)
            if let violation { throw .proxy("The proxy's answer can't be read: \(violation)") }
            guard let status else { return .wait }
            guard 200..<300 ~= status else {
                let wish = challenge.map { ", and asks for \($0)" } ?? ""
                throw .proxy("The proxy refused the tunnel with status \(status)\(wish).")
            }
            guard input.isEmpty else { throw .proxy("The proxy sent something before the tunnel's first byte.") }
            return .done
        }

        /// The challenge of a 407 (RFC 9110 §11.7.1): its first 200 characters.
        private static func challenge(in head: UnsafeRawBufferPointer) -> String? {
            var reader = HeadReader()
            guard case .complete(let fields) = reader.read(head, status: 407) else { return nil }
            return HTTPHeaders(lines: fields.bytes)[.proxyAuthenticate].map { String($0.prefix(200)) }
        }
    }

    /// SOCKS 5 (RFC 1928), with a user's name and password (RFC 1929) where there are any.
    struct SOCKSHandshake: ProxyHandshake {
        private enum Stage { case method, authentication, connection }

        private let target: [UInt8]
        private let credentials: TransportConfiguration.Credentials?
        private var stage = Stage.method

        /// - Parameter host: A name, which the proxy looks up, or an address.
        init(to host: String, port: UInt16, credentials: TransportConfiguration.Credentials?) throws(HTTPError) {
            self.credentials = credentials
            guard host.utf8.count < 256, (credentials.map { $0.user.utf8.count < 256 && $0.password.utf8.count < 256 }) ?? true
            else {
                throw .proxy("The host's name, or the user's, or the password is too long for SOCKS.")
            }
            let address = HostAddress(literal: host, port: port)?.bytes ?? []
            switch address.count {
            case 4: target = [1] + address + Self.bytes(port)
            case 16: target = [4] + address + Self.bytes(port)
            default: target = [3, UInt8(host.utf8.count)] + Array(host.utf8) + Self.bytes(port)
            }
        }

        private static func bytes(_ port: UInt16) -> [UInt8] { [UInt8(port >> 8), UInt8(port & 255)] }

        func opening() -> [UInt8] { credentials == nil ? [5, 1, 0] : [5, 2, 0, 2] }

        mutating func next(_ input: inout [UInt8]) throws(HTTPError) -> ProxyStep {
            switch stage {
            case .method:
                guard input.count >= 2 else { return .wait }
                guard input[0] == 5 else { throw .proxy("The proxy doesn't speak SOCKS 5.") }
                let method = input[1]
                input.removeFirst(2)
                if method == 2, let credentials {
                    stage = .authentication
                    let (user, password) = (Array(credentials.user.utf8), Array(credentials.password.utf8))
                    return .send([1, UInt8(user.count)] + user + [UInt8(password.count)] + password)
                }
                guard method == 0 else { throw .proxy("The proxy takes no way to authenticate that is known here.") }
            case .authentication:
                guard input.count >= 2 else { return .wait }
                guard input[1] == 0 else { throw .proxy("The proxy refused the user or the password.") }
                input.removeFirst(2)
            case .connection: return try answer(&input)
            }
            stage = .connection
            return .send([5, 1, 0] + target)
        }

        private func answer(_ input: inout [UInt8]) throws(HTTPError) -> ProxyStep {
            guard input.count >= 5 else { return .wait }
            guard input[0] == 5 else { throw .proxy("The proxy's answer isn't SOCKS 5.") }
            guard input[1] == 0 else { throw .proxy("The proxy refused the connection: \(Self.reason(input[1])).") }
            let size: Int
            switch input[3] {
            case 1: size = 10
            case 3: size = 7 + Int(input[4])
            case 4: size = 22
            default: throw .proxy("The proxy's answer isn't SOCKS 5.")
            }
            guard input.count >= size else { return .wait }
            input.removeFirst(size)
            return .done
        }

        /// RFC 1928 §6
        private static func reason(_ code: UInt8) -> String {
            switch code {
            case 1: "general failure"
            case 2: "not allowed by its rules"
            case 3: "the network can't be reached"
            case 4: "the host can't be reached"
            case 5: "the host refused"
            case 6: "it took too long"
            case 7: "the command isn't supported"
            case 8: "the kind of address isn't supported"
            default: "code \(code)"
            }
        }
    }

    extension HTTPError {
        static func proxy(_ message: String) -> HTTPError { HTTPError(.proxy, message, phase: .notSent) }
    }
#endif
