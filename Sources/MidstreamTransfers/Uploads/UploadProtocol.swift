internal import MidstreamCore

/// How an upload is continued that has broken off.
public struct UploadProtocol: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: Sendable { case resumable, tus }
    private let kind: Kind

    /// Resumable Uploads for HTTP (draft-ietf-httpbis-resumable-upload, interop version 8). A server that doesn't know it sees a usual
    /// request.
    public static let resumable = UploadProtocol(kind: .resumable)
    /// tus 1.0.
    public static let tus = UploadProtocol(kind: .tus)

    /// The name.
    public var description: String { kind == .tus ? "tus" : "resumable" }

    /// Whether the first request brings bytes already.
    var createsWithContent: Bool { kind == .resumable }

    /// Adds the fields of the first request.
    func prepareCreation(_ headers: inout HTTPHeaders, length: Int64, isAll: Bool) {
        prepare(&headers)
        headers["Upload-Length"] = "\(length)"
        if kind == .resumable { headers["Upload-Complete"] = isAll ? "?1" : "?0" }
    }

    /// Adds the fields of a request that adds bytes.
    func prepareAppending(_ headers: inout HTTPHeaders, offset: Int64, isLast: Bool) {
        prepare(&headers)
        headers["Upload-Offset"] = "\(offset)"
        headers[.contentType] = kind == .tus ? "application/offset+octet-stream" : "application/partial-upload"
        if kind == .resumable { headers["Upload-Complete"] = isLast ? "?1" : "?0" }
    }

    /// Adds the fields of any request.
    func prepare(_ headers: inout HTTPHeaders) {
        switch kind {
        case .tus: headers["Tus-Resumable"] = "1.0.0"
        case .resumable: headers["Upload-Draft-Interop-Version"] = "8"
        }
    }

    /// Whether the upload is complete by the head of an answer; nil: unknown.
    func isComplete(_ headers: HTTPHeaders) -> Bool? {
        guard kind == .resumable else { return nil }
        return switch headers["Upload-Complete"] {
        case "?1": true
        case "?0": false
        default: nil
        }
    }
}

/// What a server takes (`Upload-Limit`); everything by default.
struct UploadLimit: Equatable, Sendable {
    var maximumSize: Int64?
    var maximumPart: Int64?
    /// In seconds.
    var maximumAge: Int64?

    /// Reads the field; nil when it can't be read, and then none of it counts.
    init?(_ value: String) {
        guard let limits = StructuredDictionary([value]), !limits.members.isEmpty else { return nil }
        for (name, limit) in limits.members {
            let number: Int64? = if case .integer(let given) = limit, given >= 0 { given } else { nil }
            switch name {
            case "max-size": maximumSize = number
            case "max-append-size": maximumPart = number
            case "max-age": maximumAge = number
            default: continue
            }
            if number == nil { return nil }
        }
    }
}
