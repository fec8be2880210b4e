internal import Interception
internal import MidstreamCore
internal import WebSocketFrames

/// The request that asks for a socket (RFC 6455 §4.1).
enum UpgradeRequest {
    /// What users may set of the fields whose names begin with `Sec-WebSocket-`.
    static let protocolField: HTTPHeaders.Name = "Sec-WebSocket-Protocol"

    /// Makes it of a user's.
    ///
    /// - Throws: ``HTTPError/Code/invalidRequest``.
    static func make(of given: HTTPRequest, protocols: [String], _ options: WebSocketOptions) throws -> HTTPRequest {
        func refusal(_ message: String) -> HTTPError {
            HTTPError(.invalidRequest, message, request: given, phase: .notSent)
        }
        guard given.method == .get, given.body.bytes?.isEmpty == true else {
            throw refusal("A socket is asked for by a GET without a body.")
        }
        for field in given.headers
        where field.name.rawValue.lowercased().hasPrefix("sec-websocket-") && field.name != protocolField {
            throw refusal("The field \(field.name.rawValue) is the socket's own.")
        }
        guard given.headers["Upgrade"] == nil, given.headers["Connection"] == nil else {
            throw refusal("The fields Upgrade and Connection are the socket's own.")
        }
        guard Set(protocols).count == protocols.count, protocols.allSatisfy(\.isToken) else {
            throw refusal("The names of protocols have to be different tokens.")
        }
        var request = given.asNewCall()
        request.urlText = given.urlText.withWebScheme
        request.headers["Connection"] = "Upgrade"
        request.headers["Upgrade"] = "websocket"
        request.headers["Sec-WebSocket-Version"] = "13"
        if !protocols.isEmpty { request.headers[protocolField] = protocols.joined(separator: ", ") }
        // Kept from other origins, too.
        if let given = request.headers[protocolField], HTTPHeaders.holdsCredential(protocols: given) {
            request.headers.markSensitive(protocolField)
        }
        if options.compression == .offered, Deflater.isAvailable {
            request.headers["Sec-WebSocket-Extensions"] = DeflateParameters.offer
        }
        request.acceptableStatus = [101]
        request.needsServersAnswer = true
        request.messageLimit = options.maximumMessage
        // What comes over the socket takes as long as it takes.
        request.deadlineCoversBody = false
        request.interceptors.append(ConnectionKey())
        return request
    }

    /// What the server has agreed to.
    struct Agreement {
        var subprotocol: String?
        var deflate: DeflateParameters?
    }

    /// Checks an answer (RFC 6455 §4.1, the list at its end).
    ///
    /// - Throws: ``HTTPError/Code/protocolViolation``.
    static func agreement(_ response: HTTPResponse) throws -> Agreement {
        func violation(_ message: String) -> HTTPError {
            HTTPError(.protocolViolation, message, request: response.request, response: response, phase: .answered)
        }
        let (asked, answered) = (response.request.headers, response.headers)
        guard answered.tokens("Upgrade") == ["websocket"], answered.tokens("Connection").contains("upgrade") else {
            throw violation("The server switches to another protocol.")
        }
        guard let key = asked["Sec-WebSocket-Key"], answered["Sec-WebSocket-Accept"] == HandshakeKey.answer(to: key) else {
            throw violation("The server doesn't show that it has understood the upgrade.")
        }
        var agreement = Agreement()
        if let chosen = answered[protocolField] {
            guard asked.members(of: protocolField).contains(chosen) else {
                throw violation("The server has chosen a protocol that wasn't offered.")
            }
            agreement.subprotocol = chosen
        }
        if let extensions = answered["Sec-WebSocket-Extensions"], !extensions.isEmpty {
            guard asked.contains("Sec-WebSocket-Extensions"), let deflate = DeflateParameters(answer: extensions) else {
                throw violation("The server has chosen an extension, or a setting of one, that wasn't offered.")
            }
            agreement.deflate = deflate
        }
        return agreement
    }
}

/// Gives each connection a key of its own; outside of what signs requests.
struct ConnectionKey: RequestInterceptor {
    var stage: InterceptorStage { .exchange }
    var rank: InterceptorRank { .cookies }
    var traits: InterceptorTraits { [.endsInTime, .impersonal] }

    func intercept(request: inout HTTPRequest) async throws { request.headers["Sec-WebSocket-Key"] = HandshakeKey.make() }

    func plan(_ request: inout HTTPRequest) async throws -> RequestPlan { .unknown("would give the connection a key of its own") }
}

extension HTTPHeaders {
    /// The members of a list in small letters.
    fileprivate func tokens(_ name: Name) -> [String] { members(of: name).map { $0.lowercased() } }
}
