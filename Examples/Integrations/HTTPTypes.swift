import HTTPTypes
import Midstream

/// Why a message of one kind has no counterpart of the other.
enum ConversionError: Error {
    /// A method, a field or a target that the other kind can't have.
    case untranslatable(String)
}

extension HTTPTypes.HTTPRequest {
    /// The head of a request. Fields with secrets aren't to be indexed by HTTP/2 and HTTP/3.
    init(_ request: Midstream.HTTPRequest) throws {
        guard let method = Method(request.method.rawValue), let origin = HTTPOrigin(request.urlText) else {
            throw ConversionError.untranslatable("\(request.method) \(request.redactedURL)")
        }
        let target = request.urlText.drop { $0 != ":" }.dropFirst(3).drop { !"/?#".contains($0) }.prefix { $0 != "#" }
        let authority = origin.description.dropFirst(origin.scheme.count + 3)
        self.init(
            method: method, scheme: origin.scheme, authority: String(authority),
            path: target.hasPrefix("/") ? String(target) : "/\(target)", headerFields: try HTTPFields(request.headers))
    }
}

extension Midstream.HTTPRequest {
    /// A request with this head. Secrets are fields that aren't to be indexed.
    init(_ head: HTTPTypes.HTTPRequest, body: Midstream.HTTPBody = .empty) throws {
        // Any other path would be read as a part of the authority, and lead to another host.
        guard let scheme = head.scheme, let authority = head.authority, let path = head.path, path.hasPrefix("/") else {
            throw ConversionError.untranslatable("a request in another form than scheme, authority and path from the root")
        }
        let method = HTTPMethod(rawValue: head.method.rawValue)
        self.init(method, "\(raw: scheme)://\(raw: authority)\(raw: path)", headers: HTTPHeaders(head.headerFields), body: body)
        // Nothing of it was interpolated for the sake of a name.
        route = nil
    }
}

extension HTTPTypes.HTTPResponse {
    /// The head of a response.
    init(_ response: Midstream.HTTPResponse) {
        self.init(status: Status(code: response.status.code), headerFields: HTTPFields(received: response.headers))
    }
}

extension HTTPFields {
    init(_ headers: HTTPHeaders) throws {
        for (name, value) in headers where HTTPField.Name(name.rawValue) == nil || !HTTPField.isValidValue(value) {
            throw ConversionError.untranslatable("the field \(name)")
        }
        self.init(received: headers)
    }

    /// What a server has sent, which has acted on the request by then: a field whose name isn't possible here is left out, and `HTTPField`
    /// makes spaces of a value's control characters.
    init(received headers: HTTPHeaders) {
        self.init()
        for (name, value) in headers {
            guard let field = HTTPField.Name(name.rawValue) else { continue }
            append(HTTPField(name: field, value: value))
            if headers.isSensitive(name) { self[endIndex - 1].indexingStrategy = .disallow }
        }
    }
}

extension HTTPHeaders {
    init(_ fields: HTTPFields) {
        self.init()
        for field in fields {
            let name = HTTPHeaders.Name(field.name.rawName)
            add(name, field.value)
            if field.indexingStrategy == .disallow { markSensitive(name) }
        }
    }
}
