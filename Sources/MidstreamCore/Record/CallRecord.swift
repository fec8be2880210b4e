public import Foundation

/// What happened to one call: its exchanges on the wire, its events and its outcome.
///
/// One is made for each call of a client with observers; see ``CallObserver``. A request value that is sent twice makes two. It is
/// immutable, and copies share it.
public final class CallRecord: Sendable, Identifiable {
    /// Identifies a call: 128 bits, new for each send. It is the trace's identifier where no other was given.
    public struct ID: Sendable, Hashable {
        package let high: UInt64
        package let low: UInt64
    }

    /// Why a call was made.
    public enum Purpose: String, Sendable, Codable {
        /// It was asked for.
        case own
        /// A validator wanted it after another call had failed.
        case alternate
        /// A cache validates what it has answered with.
        case revalidation
    }

    /// The beginning of a call.
    public struct Start: Sendable {
        /// The call.
        public let id: ID
        /// Why it is made.
        public let purpose: Purpose
        /// The call that it is made for; nil for one of its own.
        public let servedCall: ID?
        /// When it began, by ``HTTPClient/Configuration/now``.
        public let date: Date
        /// The request with what the client adds, or as it was given if it can't be sent. Its body isn't the observer's to read.
        public let request: HTTPRequest
    }

    /// The call.
    public var id: ID { contents.id }
    /// The ``HTTPRequest/id`` of its request.
    public var requestID: HTTPRequest.ID { contents.requestID }
    /// Why it was made.
    public var purpose: Purpose { contents.purpose }
    /// The call that it was made for; nil for one of its own.
    public var servedCall: ID? { contents.servedCall }
    /// When it began.
    public var start: Date { contents.start }
    /// How long it took: of a streamed response up to the head.
    public var duration: Duration { contents.duration }
    /// The request's method.
    public var method: HTTPMethod { contents.method }
    /// The request's URL, unredacted.
    public var url: String { contents.url }
    /// The request's ``HTTPRequest/route``.
    public var route: String? { contents.route }
    /// The status of the response, or of that in the error; nil without one.
    public var status: HTTPStatus? { contents.status }
    /// The kind of failure: an ``HTTPError/Code``, `cancelled`, or the type of another error; nil when a response was returned.
    public var error: String? { contents.error }
    /// The failure in words, without secrets.
    public var failure: String? { failure(by: redaction) }
    /// The exchanges, in the order in which they began; no more than 2,000. Kept bodies are dropped from those beyond 256 KiB, or four times
    /// the most that an observer of the client keeps of one body where that is more.
    public var exchanges: [ExchangeRecord] { contents.exchanges }
    /// The events, in their order; no more than 2,000.
    public var events: [Trace.Event] { contents.events }
    /// The passes through the pipeline; empty where none are recorded. Worked out when it is looked at.
    public var spans: [Trace.Span] { contents.decodedSpans ?? contents.trace.spans }
    /// What is withheld when the record is shown.
    public var redaction: Redaction { contents.source.redaction }

    let contents: Contents

    /// The failure in words, as somebody shows it who has a redaction of their own.
    package func failure(by redaction: Redaction) -> String? { contents.failure.map(redaction.ownText) }

    init(_ contents: consuming Contents) { self.contents = contents }

    /// The same with no more than so many bytes of each body.
    func keeping(bodies limit: Int) -> CallRecord {
        guard exchanges.contains(where: { $0.keepsMore(than: limit) }) else { return self }
        var contents = contents
        contents.exchanges = exchanges.map { $0.keeping(bodies: limit) }
        return CallRecord(contents)
    }

    /// What a record is made of.
    struct Contents: Sendable {
        var id: ID
        var requestID: HTTPRequest.ID
        var purpose = Purpose.own
        var servedCall: ID?
        var start: Date
        var duration: Duration
        var method: HTTPMethod
        var url: String
        var route: String?
        var status: HTTPStatus?
        var error: String?
        var failure: String?
        var exchanges: [ExchangeRecord] = []
        var events: [Trace.Event] = []
        var source: RecordSource
        var trace = Trace(nil)
        var decodedSpans: [Trace.Span]?
    }
}

extension CallRecord: CustomStringConvertible, CustomReflectable {
    /// The method, the URL and the outcome in a line; secrets withheld.
    public var description: String {
        let outcome = failure.map { "✗ \($0)" } ?? "→ \(status.map(String.init(describing:)) ?? "")"
        return "\(redaction.line(method, url)) \(outcome), \(duration), \(exchanges.count) exchanges"
    }

    /// Shows what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["call": description]) }
}

extension CallRecord.ID: CustomStringConvertible, LosslessStringConvertible, Codable {
    static func unique() -> Self {
        withUnsafeBytes(of: UUID.unique().uuid) {
            Self(
                high: $0.loadUnaligned(as: UInt64.self).bigEndian,
                low: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self).bigEndian)
        }
    }

    /// 32 hexadecimal digits in small letters.
    public var description: String { withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { $0.hexadecimal } }

    /// Reads what ``description`` gives; nil for anything else.
    public init?(_ description: String) {
        guard description.utf8.count == 32, description.utf8.allSatisfy({ $0.hexadecimalValue != nil }),
            let high = UInt64(description.prefix(16), radix: 16), let low = UInt64(description.suffix(16), radix: 16)
        else { return nil }
        self.init(high: high, low: low)
    }

    /// Reads the digits.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let id = Self(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not 32 hexadecimal digits")
        }
        self = id
    }

    /// Writes the digits.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
