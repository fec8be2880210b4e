internal import Foundation
internal import MidstreamCore

/// An exchange as an archive has it (HTTP Archive 1.2).
///
/// It is written with all fields that browsers' tools and proxies insist on, and read with whatever of them is there.
struct HAREntry: Codable, Sendable {
    var startedDateTime = ""
    /// Milliseconds, as all times.
    var time = 0.0
    var request = Request()
    var response = Response()
    var cache = Empty()
    var timings = Timings()
    var connection: String?
    var serverIPAddress: String?
    var comment: String?
    /// `memory` or `disk` for what a cache answered without an exchange.
    var _fromCache: String?
    var _midstream: Own?

    struct Field: Codable, Sendable {
        var name = ""
        var value = ""
    }

    struct Request: Codable, Sendable {
        var method = "GET"
        var url = ""
        var httpVersion = "HTTP/1.1"
        var cookies: [Field] = []
        var headers: [Field] = []
        var queryString: [Field] = []
        var postData: PostData?
        var headersSize = -1.0
        var bodySize = -1.0
    }

    struct PostData: Codable, Sendable {
        var mimeType = ""
        var text = ""
        /// `base64`, where the body isn't text.
        var encoding: String?
        /// The fields of a multipart form that others have recorded without its text.
        var params: [Field]?
    }

    struct Response: Codable, Sendable {
        /// 0: there was none.
        var status = 0.0
        var statusText = ""
        var httpVersion = "HTTP/1.1"
        var cookies: [Field] = []
        var headers: [Field] = []
        var content = Content()
        var redirectURL = ""
        var headersSize = -1.0
        var bodySize = -1.0
        var _error: String?
    }

    struct Content: Codable, Sendable {
        var size = 0.0
        var mimeType = ""
        var text: String?
        var encoding: String?
    }

    struct Empty: Codable, Sendable {}

    /// −1 stands for what wasn't measured or didn't happen. `ssl` is a part of `connect`.
    struct Timings: Codable, Sendable {
        var blocked = -1.0
        var dns = -1.0
        var connect = -1.0
        var ssl = -1.0
        var send = 0.0
        var wait = 0.0
        var receive = 0.0

        var sum: Double { [blocked, dns, connect, send, wait, receive].reduce(0) { $0 + max(0, $1) } }
    }

    /// An event of the call, in milliseconds from its start.
    struct Event: Codable, Sendable {
        var name: String
        var text: String
        var at: Double
        var attributes: [String: EventValue]?
    }

    /// What only Midstream writes.
    struct Own: Codable, Sendable {
        var call: String?
        var number: Int?
        var attempt: Int?
        var cause: String?
        /// What happened in the call until then.
        var events: [Event]?
        /// The ``HTTPError/Code``.
        var error: String?
        /// The ``HTTPError/Phase`` of the error.
        var phase: String?
        /// Whether the body hadn't ended.
        var isOpen: Bool?
        /// Whether less than the whole body of the response is here.
        var isCut: Bool?
        /// Whether less than the whole body of the request is here.
        var isRequestCut: Bool?
        /// How many exchanges after this one were left out.
        var omitted: Int?
    }
}

/// Reads what is there and takes the default for the rest.
extension KeyedDecodingContainer {
    fileprivate func take<Value: Decodable>(_ key: Key, into value: inout Value) {
        if let found = try? decodeIfPresent(Value.self, forKey: key) { value = found }
    }
}

extension HAREntry {
    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        request = try fields.decode(Request.self, forKey: .request)
        fields.take(.startedDateTime, into: &startedDateTime)
        fields.take(.time, into: &time)
        fields.take(.response, into: &response)
        fields.take(.timings, into: &timings)
        fields.take(.connection, into: &connection)
        fields.take(.serverIPAddress, into: &serverIPAddress)
        fields.take(.comment, into: &comment)
        fields.take(._fromCache, into: &_fromCache)
        fields.take(._midstream, into: &_midstream)
    }
}

extension HAREntry.Field {
    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        name = try fields.decode(String.self, forKey: .name)
        fields.take(.value, into: &value)
    }
}

extension HAREntry.Request {
    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        url = try fields.decode(String.self, forKey: .url)
        fields.take(.method, into: &method)
        fields.take(.httpVersion, into: &httpVersion)
        fields.take(.cookies, into: &cookies)
        fields.take(.headers, into: &headers)
        fields.take(.queryString, into: &queryString)
        fields.take(.postData, into: &postData)
        fields.take(.headersSize, into: &headersSize)
        fields.take(.bodySize, into: &bodySize)
    }
}

extension HAREntry.PostData {
    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        fields.take(.mimeType, into: &mimeType)
        fields.take(.text, into: &text)
        fields.take(.encoding, into: &encoding)
        guard text.isEmpty else { return }
        fields.take(.params, into: &params)
        guard let form = params, mimeType.lowercased().hasPrefix("application/x-www-form-urlencoded") else { return }
        text = String(decoding: HTTPBody.form(form.map { ($0.name, $0.value) }).bytes ?? [], as: UTF8.self)
        params = nil
    }
}

extension HAREntry.Response {
    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        fields.take(.status, into: &status)
        fields.take(.statusText, into: &statusText)
        fields.take(.httpVersion, into: &httpVersion)
        fields.take(.cookies, into: &cookies)
        fields.take(.headers, into: &headers)
        fields.take(.content, into: &content)
        fields.take(.redirectURL, into: &redirectURL)
        fields.take(.headersSize, into: &headersSize)
        fields.take(.bodySize, into: &bodySize)
        fields.take(._error, into: &_error)
    }
}

extension HAREntry.Content {
    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        fields.take(.size, into: &size)
        fields.take(.mimeType, into: &mimeType)
        fields.take(.text, into: &text)
        fields.take(.encoding, into: &encoding)
    }
}

extension HAREntry.Timings {
    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        for (key, path) in [
            (.blocked, \.blocked), (.dns, \.dns), (.connect, \.connect), (.ssl, \.ssl), (.send, \.send), (.wait, \.wait),
            (.receive, \.receive),
        ] as [(CodingKeys, WritableKeyPath<Self, Double>)] {
            fields.take(key, into: &self[keyPath: path])
        }
    }
}

extension [HAREntry] {
    /// The entries of each call in the order in which they began. An entry of another program is a call of its own.
    var byCall: [[HAREntry]] {
        var calls: [[HAREntry]] = []
        var places: [String: Int] = [:]
        for entry in self {
            let id = entry._midstream?.call
            if let place = id.flatMap({ places[$0] }) {
                calls[place].append(entry)
            } else {
                if let id { places[id] = calls.count }
                calls.append([entry])
            }
        }
        // A recorder writes them as they end: that of two which has lost behind the other.
        return calls.map { $0.sorted { $0._midstream?.number ?? 0 < $1._midstream?.number ?? 0 } }
    }
}

extension HAREntry {
    /// When it began; nil when that can't be read.
    var start: Date? {
        let precise = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        return (try? precise.parse(startedDateTime)) ?? (try? Date.ISO8601FormatStyle().parse(startedDateTime))
    }

    /// Whether the request's body isn't here, or not as a whole.
    var lacksRequestBody: Bool {
        if _midstream?.isRequestCut == true { return true }
        guard request.postData?.text.isEmpty != false else { return false }
        return request.bodySize > 0 || request.postData?.params?.isEmpty == false
    }
}
