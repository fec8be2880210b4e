internal import Foundation
internal import MidstreamCore

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
    internal import MidstreamTransport
#endif

extension HTTPError {
    /// What the session's error means here. The error itself, which may hold the URL with its secrets, is kept behind.
    ///
    /// - Parameter wasSent: Whether the session has sent something of the request, perhaps over another connection than the one that the
    ///   error is about. False by default.
    init(_ error: any Error, for request: HTTPRequest, hasHead: Bool, wasSent: Bool = false) {
        func phase(isBeforeSending: Bool) -> Phase {
            hasHead ? .answered : isBeforeSending && !wasSent ? .notSent : .maybeProcessed
        }
        // What Apple's system says of a proxy, from kCFErrorHTTPProxyConnectionFailure on, is no URLError.
        let system = error as NSError
        if system.domain == "kCFErrorDomainCFNetwork", 306...311 ~= system.code {
            self.init(
                .proxy, "The proxy can't be used.", request: request, underlying: error, phase: phase(isBeforeSending: true))
            return
        }
        guard let error = error as? URLError else {
            self.init(
                .connectionLost, "The request failed for a reason that URLSession doesn't tell.", request: request,
                underlying: error, phase: phase(isBeforeSending: false))
            return
        }
        let meaning = Meaning(error, hasHead: hasHead)
        let reason = Self.reason(of: error)
        self.init(
            meaning.code, reason.map { "\(meaning.sentence) (\($0))" } ?? meaning.sentence, request: request, underlying: error,
            phase: phase(isBeforeSending: meaning.isBeforeSending))
    }

    /// libcurl's message, which names hosts and reasons, and no URL but that of a proxy. Apple's texts add nothing to the codes.
    private static func reason(of error: URLError) -> String? {
        #if canImport(FoundationNetworking)
            (error.userInfo[NSLocalizedDescriptionKey] as? String)?.withoutProxyAddress
        #else
            nil
        #endif
    }

    private struct Meaning {
        let code: Code
        let sentence: String
        var isBeforeSending = false

        init(_ error: URLError, hasHead: Bool) {
            switch error.code {
            case .cannotFindHost, .dnsLookupFailed:
                (code, sentence, isBeforeSending) = (.nameResolution, "The host's name wasn't found.", true)
            case .cannotConnectToHost where Self.hadConnected(error):
                (code, sentence, isBeforeSending) = Self.unknown(error, hasHead: hasHead)
            case .cannotConnectToHost, .notConnectedToInternet, .internationalRoamingOff, .dataNotAllowed, .callIsActive:
                (code, sentence, isBeforeSending) = (.connection, "No connection could be made.", true)
            case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
                .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
                .clientCertificateRequired, .appTransportSecurityRequiresSecureConnection:
                (code, sentence, isBeforeSending) = (.tls, "No secure connection could be made.", true)
            case .badURL, .unsupportedURL:
                (code, sentence) = Self.unsupported(error)
                isBeforeSending = code == .invalidRequest
            case .timedOut:
                (code, sentence) = (.timeout, "The server took too long.")
            case .fileDoesNotExist, .noPermissionsToReadFile, .fileIsDirectory, .cannotOpenFile, .requestBodyStreamExhausted:
                (code, sentence) = (.bodyUnreadable, "The request's body can't be read.")
            case .cannotDecodeRawData, .cannotDecodeContentData:
                (code, sentence) = (.decoding, "The response's body isn't encoded as it says.")
            case .cannotParseResponse:
                (code, sentence) = (.protocolViolation, "The response isn't HTTP.")
            case .dataLengthExceedsMaximum:
                (code, sentence) = (.protocolViolation, "A part of the response is longer than URLSession allows.")
            case .unknown:
                (code, sentence, isBeforeSending) = Self.unknown(error, hasHead: hasHead)
            default:
                // Lost, given up by the other side, an empty reply (which Linux calls a bad response), and what is new.
                (code, sentence) = (.connectionLost, "The connection broke before the response was complete.")
            }
        }

        /// On Linux an answer that isn't HTTP counts as an unsupported URL.
        private static func unsupported(_ error: URLError) -> (Code, String) {
            let text = HTTPError.reason(of: error) ?? ""
            return text.contains("HTTP/0.9")
                ? (.protocolViolation, "The response isn't HTTP.") : (.invalidRequest, "URLSession can't send to that URL.")
        }

        /// On Linux every error of a host bears this code if one of its addresses refused before another took the connection: libcurl keeps the
        /// refusal's number. Its text is that of the error.
        private static func hadConnected(_ error: URLError) -> Bool {
            guard let text = HTTPError.reason(of: error)?.lowercased() else { return false }
            // Another address may have taken too long.
            return !text.contains("connect to")
                && !["connection timed out", "resolving timed out"].contains(where: text.hasPrefix)
        }

        /// On Linux most of libcurl's errors have no code of their own, and only the text tells them apart.
        private static func unknown(_ error: URLError, hasHead: Bool) -> (Code, String, Bool) {
            let text = (HTTPError.reason(of: error) ?? "").lowercased()
            func says(_ words: String...) -> Bool { words.contains(where: text.contains) }
            let loss = (Code.connectionLost, "The connection broke before the response was complete.", false)
            // Unlike a handshake's failure, that of a connection in use may come after the request. It is about TLS if it is an alert, which
            // in TLS 1.3 the refusal of a client's certificate is.
            if says("ssl_read", "ssl_write") {
                return !hasHead && says("alert") ? (.tls, "The server ended the secure connection.", false) : loss
            }
            if !hasHead, says("ssl", "tls", "certificate") { return (.tls, "No secure connection could be made.", true) }
            if says("proxy", "connect tunnel") { return (.proxy, "The proxy can't be used.", !hasHead) }
            // In this order, since the words for a bad encoding name the transfer's as well.
            if says("content encoding", "content unencoding", "bad http content") {
                return (.decoding, "The response's body isn't encoded as it says.", false)
            }
            if says("header", "content-length", "chunk", "status line", "unsupported http", "http/0.9", "http/2") {
                return (.protocolViolation, "The server sent what isn't HTTP.", false)
            }
            return loss
        }
    }
}
