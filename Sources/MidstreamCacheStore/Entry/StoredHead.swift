package import Foundation
package import MidstreamCore

/// The head of a stored response, with its fields parsed once.
package final class StoredHead: Sendable {
    package let status: HTTPStatus
    /// The fields that may be kept (RFC 9111 §3.1), without `Age`.
    package let fields: HTTPHeaders
    /// When the request was sent, and when the head of its response, or of the last that validated it, came.
    package let requestTime: Date
    package let responseTime: Date
    /// The seconds of `Age` (§5.1).
    package let receivedAge: Int
    package let selecting: SelectingFields
    /// Whether it has to be validated in any case, since the server is known to have something newer.
    package let isInvalidated: Bool

    // Worked out.
    package let control: CacheControl
    package let date: Date?
    /// `Expires` (§5.3); nil: there is none. Something that is no date is long past.
    package let expiry: Date?
    package let lastModified: Date?
    package let tag: EntityTag?
    package let isEncoded: Bool

    /// - Parameter said: The parsed fields; nil: they are parsed here.
    package init(
        status: HTTPStatus, fields: HTTPHeaders, requestTime: Date, responseTime: Date, receivedAge: Int,
        selecting: SelectingFields, isInvalidated: Bool = false, said: ResponseFields? = nil
    ) {
        let said = said ?? ResponseFields(fields, at: responseTime)
        self.status = status
        self.fields = fields
        self.requestTime = requestTime
        self.responseTime = responseTime
        self.receivedAge = receivedAge
        self.selecting = selecting
        self.isInvalidated = isInvalidated
        control = said.control
        date = said.date
        expiry = said.expiry
        lastModified = said.lastModified
        tag = said.tag
        isEncoded = said.hasContentEncoding
    }

    /// The head of a response that has just come.
    package convenience init(
        _ response: HTTPResponse, _ said: ResponseFields? = nil, to request: HTTPRequest, requestTime: Date, responseTime: Date,
        rules: CacheRules, fingerprint: Fingerprint
    ) {
        let said = said ?? ResponseFields(response.headers, at: responseTime)
        let unwanted = StoredFields.unwanted(in: response.headers, said, rules: rules)
        self.init(
            status: response.status == .partialContent ? .ok : response.status,
            fields: StoredFields.kept(of: response, said, without: unwanted), requestTime: requestTime,
            responseTime: responseTime,
            receivedAge: said.age,
            selecting: said.vary.isEmpty && !said.hasContentEncoding
                ? SelectingFields()
                : SelectingFields(
                    VaryRule(said.vary).selecting(isEncoded: said.hasContentEncoding), of: request.headers,
                    fingerprint: fingerprint),
            // Removed fields don't count.
            said: unwanted.isEmpty ? said : nil)
    }

    /// The same, to be validated before it is used again.
    package var invalidated: StoredHead {
        StoredHead(
            status: status, fields: fields, requestTime: requestTime, responseTime: responseTime, receivedAge: receivedAge,
            selecting: selecting, isInvalidated: true)
    }

    /// The head updated by a 304 (§4.3.4) or by the response to a `HEAD` (§4.3.5).
    ///
    /// One that varies otherwise now is selected by the request that was just sent, and by anything is never used unasked (§4.1).
    ///
    /// - Parameter mayProveVersion: Whether the validators may become strong by it, as a date does by a later `Date`.
    package func freshened(
        by response: HTTPResponse, to request: HTTPRequest, requestTime: Date, responseTime: Date, rules: CacheRules,
        fingerprint: Fingerprint, mayProveVersion: Bool = true
    ) -> StoredHead {
        let said = ResponseFields(response.headers, at: responseTime)
        var fields = StoredFields.updated(fields, by: response, said, rules: rules)
        if let tag, let news = fields[.etag].flatMap({ EntityTag($0) }), tag.isCodedForm(of: news) { fields[.etag] = tag.text }
        if !mayProveVersion {
            fields[.etag] = tag?.text
            if tag == nil { fields.remove(.lastModified) }
        }
        let vary = VaryRule(fields)
        let names = vary.selecting(isEncoded: isEncoded)
        let isSelected = vary.isAny || names == selecting.fields.map(\.name)
        return StoredHead(
            status: status, fields: fields, requestTime: requestTime, responseTime: responseTime,
            receivedAge: said.age,
            selecting: isSelected ? selecting : SelectingFields(names, of: request.headers, fingerprint: fingerprint),
            isInvalidated: vary.isAny)
    }

    /// The seconds of an `Age`: its first member; none when that is no number.
    static func seconds(age value: String) -> Int {
        let first = value.utf8.prefix { $0 != UInt8(ascii: ",") }
        return CacheControl.seconds(String(Substring(first.trimmed))) ?? 0
    }
}
