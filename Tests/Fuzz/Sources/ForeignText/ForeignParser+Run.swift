import Foundation
@testable import LoopbackServer
@testable import MidstreamAuthentication
@testable import MidstreamCache
@testable import MidstreamCacheStore
@testable import MidstreamCookies
@testable import MidstreamCore
@testable import MidstreamFleet
@testable import MidstreamObservability
@testable import MidstreamResilience
@testable import MidstreamSigning
@testable import MidstreamStreams
@testable import MidstreamTasks
@testable import MidstreamTemplates
@testable import MidstreamTesting
@testable import MidstreamTransfers
@testable import MidstreamURLSession
@testable import MidstreamWebSocket
@testable import WebSocketFrames

extension ForeignParser {
    /// Has the parser read the bytes.
    public func read(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        switch self {
        case .authenticate:
            for challenge in AuthenticationChallenge.all(in: ["WWW-Authenticate": text]) { _ = DigestChallenge(challenge) }
        case .cacheControl: _ = CacheControl([text])
        case .cacheEntry: _ = CacheEntry(bytes, key: CacheKey(url: "http://h/"))
        case .cacheHead: readCachedHead(bytes)
        case .canonicalRequest:
            for isS3 in [true, false] {
                let canonical = try? CanonicalRequest(HTTPRequest(text), isS3: isS3)
                _ = (canonical?.text, canonical?.url)
            }
        case .charset: _ = FieldValueScanner.parameter("charset", of: text)
        case .conditions:
            _ = EntityTagCondition([text])?.matches(EntityTag(text))
            _ = RangeRequest([text])?.resolved(length: 10)
            _ = ContentRange(text)
        #if os(Linux)
            case .contentCoding: EncodedBody.read(bytes)
        #endif
        case .contentLength: _ = HTTPHeaders.contentLength(text)
        case .cookieDate: _ = CookieDate.parse(bytes: Array(text.utf8)[...])
        case .cookieJar: readTarget(text)
        case .digestField: _ = DigestField(text)
        case .eventStream: readEvents(bytes)
        case .fields: readFields(bytes)
        case .httpArchive: _ = try? ServiceTime.recorded(in: Data(bytes))
        case .httpDate: _ = HTTPDate.parse(text)
        case .joinedCookies: _ = SetCookieList.split(text)
        case .json: _ = try? JSONScanner.find([.key("a"), .key("a"), .index(0)], in: Data(bytes))
        case .jsonLines: finish { for try await _ in body(bytes).jsonLines([Int].self, skipsBadLines: true) {} }
        case .jsonSequence: finish { for try await _ in body(bytes).jsonSequence([Int].self, skipsBadTexts: true) {} }
        case .lines: finish { for try await _ in body(bytes).lines() {} }
        case .link: _ = HTTPLink.all(in: ["Link": text])
        case .location: _ = URLText.resolve(location: text, from: "http://u:p@a.example:81/b/c/../d?q#f")
        case .multipart:
            var form = MultipartForm(boundary: "b")
            form.add(.body(text, .bytes([]), fileName: text, contentType: text))
        case .multipartResponse: readParts(bytes)
        case .noVarySearch:
            _ = NoVarySearch(["No-Vary-Search": text])
            _ = NoVarySearch(["No-Vary-Search": "key-order, params=(\"a\")"])?.canonical("http://h/?\(text)")
        case .oauthAnswer: readToken(bytes)
        case .partRecord:
            let record = try? JSONDecoder().decode(PartRecord.self, from: Data(bytes.prefix(PartFile.largestRecord)))
            _ = record?.ranges(in: .max)?.gaps(upTo: .max)
        case .publicKey: _ = PublicKeyInfo.bytes(ofCertificate: bytes)
        case .rangeAnswer: readRange(text)
        case .rateLimit: readLimits(text)
        case .redaction: _ = URLText.redacted(text)
        case .redisReply: readReplies(bytes)
        case .request: readRequests(bytes)
        case .requestHead: _ = try? RequestHead(bytes.split(separator: 10).map { $0.filter { $0 != 13 } })
        #if os(Linux)
            case .responseHead: ReceivedHeads.read(bytes)
        #endif
        case .retryAfter:
            _ = HTTPResponse(status: 503, headers: ["Retry-After": text], request: HTTPRequest("http://h/")).retryAfter
        case .setCookie: readCookies(text)
        case .socketAgreement: readAgreement(bytes)
        case .socketFrames: _ = SocketFrames.parts(bytes)
        case .socketHandshake: _ = DeflateParameters(answer: text)?.answer
        case .socketMessages: _ = SocketMessages.parts(bytes)
        case .structured:
            _ = StructuredDictionary([text])
            _ = StructuredList([text])
        case .traceParent: _ = TraceParent(text, state: text)?.child()
        case .uploadLimit: _ = UploadLimit(text)
        case .uriTemplate: _ = try? URITemplate(text).expand(["a": "b", "c": ["d", "ü"], "e": ["f": "g"]])
        case .url:
            _ = try? URLText.resolve(text, base: nil, query: nil)
            _ = try? URLText.resolve(text, base: "https://h/a/?q", query: "k=v")
            _ = NormalizedURL.text(text)
        case .vary: readVary(text)
        #if os(Linux)
            case .wireFrames: WireFrames.read(bytes)
            case .wireResponse: WireResponses.read(bytes)
        #endif
        }
    }

    private func readVary(_ text: String) {
        let names = VaryRule(["Vary": text]).names
        let headers: HTTPHeaders = ["Accept-Language": text, "Foo": text]
        let fingerprint = Fingerprint(salt: [])
        _ = SelectingFields(names + ["accept-language", "foo"], of: headers, fingerprint: fingerprint)
            .match(headers, response: ["Content-Language": "de"], fingerprint: fingerprint)
    }

    private func readFields(_ bytes: [UInt8]) {
        var headers = fields(bytes)
        for name in Set(headers.prefix(5).map(\.name)) { _ = headers[name] }
        headers.remove(.contentLength)
        headers.remove(.contentEncoding)
    }

    private func fields(_ bytes: [UInt8]) -> HTTPHeaders {
        var buffer = HTTPHeaders.FieldBuffer()
        bytes.withUnsafeBytes { bytes in
            var start = 0
            while start < bytes.count {
                let end = bytes[start...].firstIndex(of: 10) ?? bytes.count
                if end > start { buffer.append(line: UnsafeRawBufferPointer(rebasing: bytes[start..<end])) }
                start = end + 1
            }
        }
        return HTTPHeaders(buffer)
    }

    /// What a cache makes of a response with these fields, and of a request.
    private func readCachedHead(_ bytes: [UInt8]) {
        // No head is larger.
        let request = HTTPRequest(.get, "http://h/", headers: fields(Array(bytes.prefix(256 << 10))))
        let response = HTTPResponse(status: 200, headers: request.headers, request: request)
        let rules = CacheRules(isShared: true, targetedFields: ["CDN-Cache-Control"])
        let moment = Date(timeIntervalSince1970: 1_700_000_000)
        let fingerprint = Fingerprint(salt: [])
        let head = StoredHead(
            response, to: request, requestTime: moment, responseTime: moment, rules: rules, fingerprint: fingerprint)
        let demand = CacheDemand(request)
        _ = rules.obstacle(to: response, ResponseFields(response.headers, at: moment), for: request)
        _ = rules.reuse(head, for: demand, at: moment + 10)
        _ = rules.mayAnswerOnError(head, for: demand, at: moment + 10)
        _ = head.freshened(
            by: response, to: request, requestTime: moment, responseTime: moment, rules: rules, fingerprint: fingerprint)
    }

    /// What a socket's client makes of the fields of a 101; never more than it has offered.
    private func readAgreement(_ bytes: [UInt8]) {
        let request = HTTPRequest(
            .get, "http://h/",
            headers: [
                "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol": "chat, superchat",
                "Sec-WebSocket-Extensions": DeflateParameters.offer,
            ])
        // No head is larger.
        let response = HTTPResponse(status: 101, headers: fields(Array(bytes.prefix(256 << 10))), request: request)
        guard let agreement = try? UpgradeRequest.agreement(response) else { return }
        if let chosen = agreement.subprotocol {
            precondition(["chat", "superchat"].contains(chosen), "agreed to \(chosen)")
        }
        if let deflate = agreement.deflate {
            precondition(DeflateParameters(answer: deflate.answer) == deflate, "\(deflate) is answered by \(deflate.answer)")
        }
    }

    private func readToken(_ bytes: [UInt8]) {
        for status: HTTPStatus in [200, 400] {
            let endpoint = OAuthTokenEndpoint(url: "http://h/", client: "a", secret: "b") { request in
                HTTPResponse(status: status, body: .bytes(bytes), request: request)
            }
            finish { _ = try await endpoint.token(for: [("refresh_token", "c")]) }
        }
    }

    private func readRange(_ text: String) {
        let headers: HTTPHeaders = [
            "Content-Range": text, "ETag": text, .lastModified: text, .contentLength: text,
            .date: "Sun, 06 Nov 1994 08:49:37 GMT",
        ]
        let validator = StrongValidator(headers)
        for status: HTTPStatus in [200, 206, 416] {
            for start: Int64? in [nil, 5] {
                let question = RangeAnswer.Question(start: start, total: nil, validator: validator)
                let response = HTTPResponse(status: status, headers: headers, request: HTTPRequest("http://h/"))
                _ = RangeAnswer(response, to: question)
            }
        }
    }

    private func readLimits(_ text: String) {
        let headers: HTTPHeaders = [
            "RateLimit": text, "RateLimit-Policy": text, "X-RateLimit-Remaining": text, "X-RateLimit-Reset": text,
        ]
        for dialect: RateLimit.Dialect in [.resetTime, .resetSeconds] {
            let fields = RateLimitFields(headers, dialect, now: 1_700_000_000)
            for limit in [fields.general] + fields.partitions.map(\.limit) { _ = limit.policy?.rate }
        }
    }

    /// The bytes as a body, in pieces of the size that the first one says, or as a whole.
    private func body(_ bytes: [UInt8]) -> HTTPBody {
        let size = Int(bytes.first ?? 0) + 1
        guard bytes.count < 64 << 10, size < 128 else { return .bytes(bytes) }
        let pieces = stride(from: 0, to: bytes.count, by: size).map { Array(bytes[$0..<min($0 + size, bytes.count)]) }
        return .stream {
            AsyncStream { stream in
                for piece in pieces { stream.yield(piece) }
                stream.finish()
            }
        }
    }

    /// Waits for asynchronous work, which never does so for anything else.
    private func finish(_ work: @escaping @Sendable () async throws -> Void) {
        let done = DispatchSemaphore(value: 0)
        Task.detached {
            try? await work()
            done.signal()
        }
        done.wait()
    }

    private func readEvents(_ bytes: [UInt8]) {
        var parser = EventParser()
        let cut = min(Int(bytes.first ?? 0), bytes.count)
        for piece in [bytes[..<cut], bytes[cut...]] {
            parser.add(Array(piece))
            while let event = try? parser.next() { _ = event }
        }
    }

    private func readParts(_ bytes: [UInt8]) {
        let response = HTTPResponse(
            status: 200, headers: ["Content-Type": "multipart/mixed; boundary=b"], body: body(bytes),
            request: HTTPRequest("http://h/"))
        finish {
            for try await part in response.parts() {
                for try await _ in part.body {}
            }
        }
    }

    private func readCookies(_ text: String) {
        let jar = CookieJar(now: { Date(timeIntervalSince1970: 1_700_000_000) })
        _ = jar.store([text], from: "http://a.b.example/c/d")
        _ = jar.cookies(for: "https://a.b.example/c/d")
    }

    private func readTarget(_ url: String) {
        let jar = CookieJar(now: { Date(timeIntervalSince1970: 1_700_000_000) })
        _ = jar.store(["a=b; Domain=b.example"], from: "http://a.b.example/")
        _ = jar.take(for: url)
        _ = jar.store(["a=b"], from: url)
    }

    private func readRequests(_ bytes: [UInt8]) {
        // Both ends are in this thread, so what is sent has to fit into the socket's buffer.
        var ends: [Int32] = [0, 0]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else { return }
        let (sender, receiver) = (Socket(descriptor: ends[0]), Socket(descriptor: ends[1]))
        try? bytes.prefix(48 << 10).withUnsafeBytes { try sender.send($0) }
        sender.close()
        var reader = RequestReader(receiver, maximumBody: 64 << 20, keptBody: .max)
        while let head = try? reader.head(), let body = try? reader.body(head.framing, isKept: true) {
            let request = RecordedRequest(
                method: head.method, target: head.target, version: head.version, headers: head.headers, body: body.bytes,
                bodyLength: body.length, trailers: body.trailers, connection: 1, requestOnConnection: 1)
            _ = (request.path, request.query, request.description, head.keepsConnection, head.expectsContinue)
        }
    }
}

extension ForeignParser {
    /// In pieces of as many bytes as the first one says.
    private func readReplies(_ bytes: [UInt8]) {
        guard let size = bytes.first.map({ Int($0) + 1 }) else { return }
        var reader = RESPReader()
        for start in stride(from: 1, to: bytes.count, by: size) {
            reader.append(Array(bytes[start..<min(start + size, bytes.count)]))
            do {
                while try reader.next() != nil {}
            } catch {
                return
            }
        }
    }
}
