#if os(Linux)
    internal import CCurl
    import Glibc
    internal import MidstreamCore
    internal import MidstreamTransport
    internal import MidstreamLoop

    extension HTTPError {
        /// What curl's verdict means, with curl's own words.
        init(_ code: CURLcode, of transfer: CurlTransfer, _ handle: EasyHandle, phase: Phase) {
            var text = String(cString: handle.errorText)
            if text.isEmpty { text = String(cString: curl_easy_strerror(code)) }
            text = text.withoutProxyAddress
            if transfer.resends > 0 { text += ", after the request had been sent again" }
            let proxy = transfer.curlLoop.options.proxy
            let kind = Self.kind(code, text, handle, proxy, phase)
            let secrets = (proxy?.secrets ?? []) + Self.secrets(of: transfer.request.urlText)
            self.init(
                kind, Self.withheld(secrets, in: text), request: transfer.request,
                phase: kind == .invalidRequest ? .notSent : phase)
        }

        private static func kind(
            _ code: CURLcode, _ text: String, _ handle: EasyHandle, _ proxy: ProxyOptions?, _ phase: Phase
        ) -> Code {
            let tunnelStatus = handle.long(CURLINFO_HTTP_CONNECTCODE)
            // A tunnel that is refused surfaces as a connection that can't be read.
            if phase == .notSent, tunnelStatus >= 300 || text.contains("CONNECT tunnel") { return .proxy }
            // In TLS 1.3 the server looks at the client's certificate after the client has begun to send.
            if phase != .answered, isTLSAlert(text) { return .tls }
            switch code {
            case CURLE_URL_MALFORMAT, CURLE_LOGIN_DENIED: return .invalidRequest
            // Older versions confuse a SOCKS proxy with the host that is looked up for it.
            case CURLE_COULDNT_RESOLVE_HOST where proxy?.isNotFound(by: text) == true: return .proxy
            case CURLE_COULDNT_RESOLVE_HOST: return .nameResolution
            case CURLE_PROXY where handle.long(CURLINFO_PROXY_ERROR) == Int(CURLPX_RESOLVE_HOST.rawValue):
                return .nameResolution
            case CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY: return .proxy
            // One of a kind that curl doesn't know.
            case CURLE_COULDNT_CONNECT where text.hasPrefix("Unsupported proxy"): return .unsupported
            case CURLE_COULDNT_CONNECT:
                guard let proxy else { return .connection }
                // The latter in newer versions.
                return text.contains(proxy.nameInMessages) || text.contains(" over proxy ") ? .proxy : .connection
            case CURLE_OPERATION_TIMEDOUT: return .timeout
            case CURLE_SSL_CONNECT_ERROR where isAboutTheConnection(text):
                // Without a tunnel it was the proxy's handshake, unless the host is one that is reached directly.
                guard let proxy, proxy.isSecure, proxy.exceptions.isEmpty, tunnelStatus == 0 else { return .connection }
                return .proxy
            case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ENGINE_NOTFOUND,
                CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
                CURLE_USE_SSL_FAILED, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR,
                CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT:
                return .tls
            // Of a client certificate, in newer versions.
            case CURLE_BAD_FUNCTION_ARGUMENT where text.hasPrefix("unable to set private key"): return .tls
            // What curl's own functions are given of a head or of trailers that it can't store.
            case CURLE_BAD_FUNCTION_ARGUMENT where phase != .notSent: return .protocolViolation
            case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_FILESIZE_EXCEEDED, CURLE_HTTP_RETURNED_ERROR:
                return .protocolViolation
            // Either is also the code of a connection or a stream that the server has ended.
            case CURLE_HTTP2, CURLE_HTTP2_STREAM:
                return isAboutHTTP2(text) ? .protocolViolation : .connectionLost
            // Curl speaks of a lack of memory when a line of a head is too long for it; newer versions, of code 100.
            case CURLE_OUT_OF_MEMORY, CURLcode(100): return .protocolViolation
            // Curl is asked to undo no content coding, so that it is a transfer coding.
            case CURLE_BAD_CONTENT_ENCODING where phase != .answered: return .protocolViolation
            case CURLE_BAD_CONTENT_ENCODING, CURLE_WRITE_ERROR: return .decoding
            case CURLE_READ_ERROR: return .bodyUnreadable
            case CURLE_RECV_ERROR where text.hasPrefix("Proxy CONNECT aborted"): return .proxy
            case CURLE_RECV_ERROR:
                return isAboutTheMessage(text) ? .protocolViolation : .connectionLost
            case CURLE_BAD_FUNCTION_ARGUMENT, CURLE_NOT_BUILT_IN, CURLE_UNKNOWN_OPTION: return .unsupported
            // Nobody answers by QUIC, or a kept connection has died.
            case CURLE_SEND_ERROR where phase == .notSent: return .connection
            case CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE, CURLE_SEND_ERROR, CURLE_SEND_FAIL_REWIND:
                return .connectionLost
            default: return phase == .notSent ? .connection : .connectionLost
            }
        }

        /// Whether it is OpenSSL's way to tell of an alert (RFC 8446 §6).
        private static func isTLSAlert(_ text: String) -> Bool { text.contains("SSL routines:") && text.contains(" alert ") }

        /// Whether it tells of a connection that ended or was reset in the handshake, in the words of curl or OpenSSL.
        private static func isAboutTheConnection(_ text: String) -> Bool {
            ["SSL_ERROR_SYSCALL", "Connection reset by peer", "Broken pipe", "unexpected eof while reading"].contains {
                text.contains($0)
            }
        }

        private static func isAboutTheMessage(_ text: String) -> Bool {
            ["chunk", "header", "Invalid", "Illegal", "Malformed", "nghttp2"].contains { text.contains($0) }
        }

        /// Whether a rule of HTTP/2 was broken: in the words of nghttp2, or by the code that one side has given (RFC 9113 §7).
        private static func isAboutHTTP2(_ text: String) -> Bool {
            [
                "nghttp2", "unexpected data", "Invalid HTTP header", "invalid frame", "PROTOCOL_ERROR", "FLOW_CONTROL_ERROR",
                "FRAME_SIZE_ERROR", "COMPRESSION_ERROR",
            ].contains { text.contains($0) }
        }

        private static func secrets(of url: String) -> [String] {
            guard let userInfo = URLText(url).userInfo else { return [] }
            let password = userInfo.utf8.split(separator: UInt8(ascii: ":"), maxSplits: 1).last.map { String(Substring($0)) }
            return [String(userInfo), password ?? ""].filter { !$0.isEmpty }
        }

        private static func withheld(_ secrets: [String], in text: String) -> String {
            secrets.reduce(text) { $0.replacing(scalarsOf: $1, with: .withheld) }
        }
    }
#endif
