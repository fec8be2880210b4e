internal import Foundation
internal import MidstreamCore

/// What shows that the bytes of two responses are those of one representation (RFC 9110 §8.8.1).
enum StrongValidator: Codable, Hashable, Sendable {
    case eTag(String)
    case lastModified(String)

    /// How much older than the response a date has to be: within the second in which it was changed, a file may be changed again, and the
    /// clocks of a server that is many may differ (RFC 9110 §8.8.2.2).
    private static let ageOfStrongDates: TimeInterval = 60

    /// The one that a response has; nil when it has none that is strong.
    init?(_ headers: HTTPHeaders) {
        if let tag = headers[.etag] {
            // A weak one doesn't identify the bytes, and a date isn't used beside it (RFC 9110 §13.1.5).
            guard tag.utf8.count >= 2, tag.hasPrefix("\""), tag.hasSuffix("\"") else { return nil }
            self = .eTag(tag)
            return
        }
        guard let text = headers[.lastModified], let changed = HTTPDate.parse(text),
            let sent = headers[.date].flatMap({ HTTPDate.parse($0) }),
            sent.timeIntervalSince(changed) >= Self.ageOfStrongDates
        else { return nil }
        self = .lastModified(text)
    }

    /// The value of `If-Range`.
    var fieldValue: String {
        switch self {
        case .eTag(let value), .lastModified(let value): value
        }
    }

    /// Whether a response has the same tag, and so the same bytes.
    func isTag(of headers: HTTPHeaders) -> Bool { self == headers[.etag].map { .eTag($0) } }

    /// Whether a part is of the same representation. A part has to repeat its tag; the date may be left out (RFC 9110 §15.3.7).
    func holds(for headers: HTTPHeaders) -> Bool {
        switch self {
        case .eTag(let tag): headers[.etag] == tag
        case .lastModified(let date): headers[.lastModified].map { $0 == date } ?? !headers.contains(.etag)
        }
    }
}
