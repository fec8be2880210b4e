internal import Foundation
internal import Interception
public import MidstreamCore

/// A transport that answers from an archive.
///
/// ```swift
/// let client = HTTPClient(transport: ReplayTransport(try HARArchive(contentsOf: "calls.har")))
/// ```
///
/// Values that were withheld match any; so do, in requests and archives with secrets, the values that a redaction would withhold. Of equal
/// requests each gets the next recorded answer, and the last one again when there are no more. An exchange that failed fails again, with the
/// same ``HTTPError/Code`` and ``HTTPError/Phase``, and a body that broke off breaks off there again. One that was cancelled before it had an
/// answer, as the loser of a hedge is, isn't played, nor is a connection to another protocol (101). Copies share what has been played; any
/// number of tasks may send at once. Answers come at once, not in the time that they took.
public struct ReplayTransport: HTTPTransport {
    /// What of a request has to be as recorded.
    public enum Part: Sendable, Hashable {
        /// The method.
        case method
        /// The URL.
        case url
        /// The body.
        case body
    }

    /// In which order answers are given.
    public enum Order: Sendable {
        /// For each request the next of those that match it.
        case byRequest
        /// Exactly as in the archive: a request that isn't the next one is a miss. ``HARRecorder`` writes an exchange when its body has ended,
        /// and so behind what was sent while it arrived.
        case sequence
    }

    /// What becomes of a request that wasn't recorded.
    public enum Miss: Sendable {
        /// It fails with ``HTTPError/Code/notRecorded``.
        case fail
        /// It is sent by another transport.
        case forward(any HTTPTransport)
        /// It is sent by another transport, and the answer is kept in ``ReplayTransport/archive``, for a transport that is made with that.
        /// This one doesn't play it: who sends an equal request, as a retry is, wants another answer. Bodies are taken into memory first, up
        /// to 64 MiB. A connection to another protocol (101), such as a socket, is handed on and not kept.
        case record(any HTTPTransport)
    }

    private struct Recorded: Sendable {
        let entry: HAREntry
        let key: ReplayKey
    }

    private struct State {
        var recorded: [Recorded]
        /// Which one is to come, where they come as in the archive.
        var next = 0
        /// Where they don't: which ones of each key are left. The last one stays.
        var places: [ReplayKey: ArraySlice<Int>]
    }

    private let entries: Locked<State>
    private let parts: Set<Part>
    private let order: Order
    private let miss: Miss
    private let redaction: Redaction

    /// Makes a transport.
    ///
    /// - Parameters:
    ///   - parts: What of a request has to be as recorded; method and URL by default.
    ///   - order: `.byRequest` by default.
    ///   - miss: `.fail` by default.
    ///   - redaction: What isn't compared beside what never is: that with which it was recorded.
    public init(
        _ archive: HARArchive, matching parts: Set<Part> = [.method, .url], order: Order = .byRequest, miss: Miss = .fail,
        redaction: Redaction = Redaction()
    ) {
        self.parts = parts
        self.order = order
        self.miss = miss
        self.redaction = redaction
        let recorded = archive.entries.filter(\.isPlayable).map { Recorded(entry: $0, key: ReplayKey($0, parts, redaction)) }
        let places = Dictionary(grouping: recorded.indices) { recorded[$0].key }
        entries = Locked(State(recorded: recorded, places: places.mapValues { $0[...] }))
    }

    /// That of the transport that others are sent by; `.nobody` where they fail.
    public var identity: RequestIdentity {
        switch miss {
        case .fail: .nobody
        case .forward(let transport), .record(let transport): transport.identity
        }
    }

    /// The exchanges of the archive that can be played, and those that were recorded since; secrets are withheld of the latter.
    public var archive: HARArchive { HARArchive(entries.withLock { $0.recorded.map(\.entry) }) }

    /// Answers as recorded.
    ///
    /// A body that wasn't kept as a whole is there as far as it was; what comes then is ``HTTPError/Code/notRecorded``.
    ///
    /// - Throws: The recorded failure; ``HTTPError/Code/notRecorded``; what the other transport throws.
    public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        try Task.checkCancellation()
        var request = request
        // Whoever it goes to has to read it as well.
        if parts.contains(.body), request.body.replayability == .once { request.body = .bytes(try await request.body.collect()) }
        let key = try await key(of: request)
        if let entry = take(key) {
            let response = try entry.response(to: request)
            // As whoever answered it has.
            if !parts.contains(.body) { try await request.body.readToEnd() }
            return response
        }
        switch miss {
        case .forward(let transport): return try await transport.send(request)
        case .record(let transport): return try await record(request, as: key, by: transport)
        case .fail: throw failure(request, key)
        }
    }

    private func record(
        _ request: HTTPRequest, as key: ReplayKey, by transport: any HTTPTransport
    ) async throws -> HTTPResponse {
        var sent = request
        if sent.body.bytes == nil { sent.body = .bytes(try await sent.body.collect(upTo: Self.recordLimit)) }
        let (start, clock, request) = (Date(), ContinuousClock.now, sent)
        func keep(_ result: Result<HTTPResponse, any Error>) {
            let exchange = ExchangeRecord(of: request, result, at: start, duration: clock.duration(to: .now))
            let recorded = Recorded(entry: HAREntry(exchange, redaction: redaction), key: key)
            entries.withLock { entries in
                let place = order == .sequence ? entries.next : entries.recorded.count
                entries.recorded.insert(recorded, at: place)
                entries.next += 1
            }
        }
        do {
            var response = try await transport.send(request)
            // Its body is what the other side says, which may wait for what this one has to say.
            if response.status.code == 101 { return response }
            try await response.buffer(upTo: Self.recordLimit)
            keep(.success(response))
            return response
        } catch {
            if !(error is CancellationError) { keep(.failure(error)) }
            throw error
        }
    }

    private static let recordLimit = 64 << 20

    private func key(of request: HTTPRequest) async throws -> ReplayKey {
        var body: String?
        if parts.contains(.body) {
            let bytes = try await request.body.collect()
            body = redaction.wholeText(bytes, contentType: request.headers[.contentType]) ?? Data(bytes).base64EncodedString()
        }
        return ReplayKey(method: request.method.rawValue, url: redaction.url(request.urlText), body: body, parts)
    }

    private func take(_ key: ReplayKey) -> HAREntry? {
        entries.withLock { entries in
            switch order {
            case .sequence:
                guard entries.next < entries.recorded.count, entries.recorded[entries.next].key.differences(from: key).isEmpty
                else { return nil }
                entries.next += 1
                return entries.recorded[entries.next - 1].entry
            case .byRequest:
                // One whose body isn't known stands for those that aren't.
                let found = entries.places[key] == nil ? key.withoutBody : key
                guard let place = entries.places[found]?.popFirst() else { return nil }
                if entries.places[found]?.isEmpty == true { entries.places[found] = [place] }
                return entries.recorded[place].entry
            }
        }
    }

    /// Names the recorded requests that differ the least.
    private func failure(_ request: HTTPRequest, _ key: ReplayKey) -> HTTPError {
        let (recorded, next) = entries.withLock { ($0.recorded, $0.next) }
        let candidates = order == .sequence ? Array(recorded[next...].prefix(1)) : recorded
        let nearest = candidates.map { ($0, $0.key.differences(from: key)) }.sorted { $0.1.count < $1.1.count }.prefix(3)
        let described = nearest.map { candidate, differences in
            "\(candidate.entry.request.method) \(redaction.url(candidate.entry.request.url)) "
                + "(\(differences.isEmpty ? "as recorded" : "another \(differences.joined(separator: ", "))"))"
        }
        return HTTPError(
            .notRecorded,
            "\(request.method) \(redaction.url(request.urlText)) was not recorded"
                + (described.isEmpty ? "." : "; nearest: \(described.joined(separator: "; "))."),
            request: request, phase: .notSent)
    }
}

extension HTTPError.Code {
    /// An archive that is played has no answer to the request.
    public static let notRecorded = Self(rawValue: "notRecorded")
}

extension HTTPError {
    /// ``HTTPError/Code/notRecorded``
    public static var notRecorded: Code { .notRecorded }
}

/// What requests are compared by.
private struct ReplayKey: Sendable, Hashable {
    let method: String?
    let url: String?
    /// Nil of a recorded one that isn't known as a whole, which any matches.
    private(set) var body: String?

    init(method: String, url: String, body: String?, _ parts: Set<ReplayTransport.Part>) {
        self.method = parts.contains(.method) ? method : nil
        self.url = parts.contains(.url) ? url : nil
        self.body = parts.contains(.body) ? body.map(Self.ordered) : nil
    }

    init(_ entry: HAREntry, _ parts: Set<ReplayTransport.Part>, _ redaction: Redaction) {
        let (request, data) = (entry.request, entry.request.postData)
        let bytes = Array((data?.text ?? "").utf8)
        let text = data?.encoding == "base64" ? data?.text : redaction.wholeText(bytes, contentType: data?.mimeType)
        // A form of parts has another boundary each time.
        let isInParts = data?.mimeType.lowercased().hasPrefix("multipart/form-data") == true
        let body = entry.lacksRequestBody || isInParts ? nil : text ?? Data(bytes).base64EncodedString()
        self.init(method: request.method, url: redaction.url(request.url), body: body, parts)
    }

    /// The text, of JSON with all fields in one order: that of an encoder may be another in each process.
    private static func ordered(_ text: String) -> String {
        guard let value = try? JSONSerialization.jsonObject(with: Data(text.utf8)),
            let data = try? JSONSerialization.data(withJSONObject: value, options: .sortedKeys)
        else { return text }
        return String(decoding: data, as: UTF8.self)
    }

    /// The key of one whose body isn't known.
    var withoutBody: ReplayKey {
        var key = self
        key.body = nil
        return key
    }

    /// In what a request isn't as the recorded one that this is the key of.
    func differences(from other: ReplayKey) -> [String] {
        [("method", method == other.method), ("URL", url == other.url), ("body", (body ?? other.body) == other.body)]
            .filter { !$0.1 }.map(\.0)
    }
}

extension HAREntry {
    /// Whether there is an answer, or a failure, that can be given again.
    fileprivate var isPlayable: Bool {
        // What a cache answered has no body here, and isn't asked of a transport.
        guard _fromCache == nil || response.content.text != nil else { return false }
        // Nobody waited for the answer any longer; whoever asks for it now does.
        if response.status == 0, _midstream?.error == Self.cancelled { return false }
        // What both sides said isn't recorded, and the answer is to one key alone.
        return response.status != 101
    }

    private static let cancelled = "cancelled"

    /// Nil also where a reader was cancelled: that is its own doing, and what it has left isn't there.
    private var failureCode: String? { _midstream?.error == Self.cancelled ? nil : _midstream?.error }

    /// The recorded answer, or the recorded failure.
    fileprivate func response(to request: HTTPRequest) throws -> HTTPResponse {
        // With an error that came before anything of the body, there is no response to begin with.
        guard 100...999 ~= response.status, failureCode == nil || response.content.text != nil else {
            throw failure(of: request, "connection", phase: _midstream?.phase.flatMap(HTTPError.Phase.init(rawValue:)))
        }
        var headers = HTTPHeaders()
        for field in response.headers where !field.name.hasPrefix(":") {
            // Browsers write several fields of a name, such as cookies, as one with a line for each.
            let values = field.value.split(omittingEmptySubsequences: false, whereSeparator: { $0 == "\n" || $0 == "\r\n" })
            for value in values { headers.add(HTTPHeaders.Name(field.name), String(value)) }
        }
        // The body is recorded as it was read, decoded and whole. Where there can be none they tell of what a GET would get.
        if request.method != .head, response.status != 304 {
            // Midstream decodes no part, and takes Content-Encoding away where it decodes; others leave it.
            let isAsItCame = _midstream != nil && (response.status == 206 || headers.contains(.contentEncoding))
            let ofEncoded: [HTTPHeaders.Name] = isAsItCame ? [] : [.contentEncoding, "Content-Digest", "Repr-Digest"]
            let framing: [HTTPHeaders.Name] = [.contentLength, .transferEncoding]
            for name in framing + ofEncoded { headers.remove(name) }
            // HAR has text of any charset in UTF-8. What Midstream writes as text was UTF-8 before.
            if _midstream == nil, response.content.encoding != "base64", let type = headers[.contentType] {
                headers[.contentType] = type.replacing(#/(?i:charset)\s*=\s*(?:"[^"]*"|[^\s;]*)/#, with: "charset=utf-8")
            }
        }
        let text = response.content.text ?? ""
        guard let bytes = response.content.encoding == "base64" ? Data(base64Encoded: text).map(Array.init) : Array(text.utf8)
        else {
            throw HTTPError(.notRecorded, "The recorded body isn't Base64.", request: request, phase: .notSent)
        }
        return HTTPResponse(
            status: HTTPStatus(Int(response.status)), headers: headers, body: body(bytes, of: request), request: request,
            version: HTTPVersion(recorded: response.httpVersion))
    }

    /// The body, which may break off behind these bytes. Whoever doesn't read that far, as who follows a redirect, doesn't get to know.
    private func body(_ bytes: [UInt8], of request: HTTPRequest) -> HTTPBody {
        let isKept = response.content.text != nil || response.content.size <= 0
        guard !isKept || _midstream?.isCut == true || _midstream?.isOpen == true || _midstream?.error != nil else {
            return .bytes(bytes)
        }
        let (failure, rest) = (failure(of: request, "notRecorded", phase: .answered), Locked(bytes))
        return .incoming(
            next: {
                try Task.checkCancellation()
                let chunk = rest.withLock { rest in
                    defer { rest = [] }
                    return rest
                }
                guard !chunk.isEmpty else { throw failure }
                return chunk
            }, close: {})
    }

    /// - Parameter code: That of an exchange of which no error was recorded.
    private func failure(of request: HTTPRequest, _ code: String, phase: HTTPError.Phase?) -> HTTPError {
        let code = failureCode ?? code
        let reason = response._error ?? (response.status > 0 ? "only a part of the body, or nothing of it" : "no response")
        return HTTPError(HTTPError.Code(rawValue: code.escapingControls), "Recorded: \(reason).", request: request, phase: phase)
    }
}

extension HTTPVersion {
    fileprivate init(recorded name: String) {
        switch name.lowercased() {
        case "http/2.0", "http/2", "h2": self = .http2
        case "http/3.0", "http/3", "h3": self = .http3
        case "http/1.0": self = .http1_0
        default: self = .http1_1
        }
    }
}
