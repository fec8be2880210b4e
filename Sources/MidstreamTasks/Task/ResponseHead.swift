public import Foundation
public import MidstreamCore

/// A response without its body.
public struct ResponseHead: Sendable {
    /// The status.
    public let status: HTTPStatus
    /// The header fields.
    public let headers: HTTPHeaders
    /// The version of HTTP that it came with.
    public let version: HTTPVersion
    private let request: HTTPRequest

    /// Makes a head, as tests do.
    public init(
        status: HTTPStatus, headers: HTTPHeaders = [:], url: URL = URL(fileURLWithPath: "/"), version: HTTPVersion = .http1_1
    ) {
        self.status = status
        self.headers = headers
        self.version = version
        request = HTTPRequest(url.absoluteString)
    }

    /// Takes the head of a response.
    public init(_ response: HTTPResponse) {
        status = response.status
        headers = response.headers
        version = response.version
        request = response.request
    }

    /// The URL that answered, redirects followed.
    public var url: URL { request.url }

    func response(_ body: HTTPBody) -> HTTPResponse {
        HTTPResponse(status: status, headers: headers, body: body, request: request, version: version)
    }
}

extension ResponseHead: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The status and where it came from.
    public var description: String { "\(status) from \(request)" }

    /// The status, where it came from and the headers; secrets withheld.
    public var debugDescription: String { headers.isEmpty ? description : "\(description)\n\(headers)" }

    /// Shows what ``debugDescription`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["head": debugDescription]) }
}
