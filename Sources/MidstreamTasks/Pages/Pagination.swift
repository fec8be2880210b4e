internal import Foundation
public import MidstreamCore

/// How one page of an answer leads to the next.
public struct Pagination: Sendable {
    /// Makes the request for the next page; nil: there is none.
    typealias Next = @Sendable (_ first: HTTPRequest, _ response: HTTPResponse, _ page: Int) async throws -> HTTPRequest?

    let first: @Sendable (HTTPRequest) -> HTTPRequest
    let next: Next

    /// Whether a URL that was read already can only mean that the pages run in a circle.
    let urlTellsPages: Bool

    private init(
        urlTellsPages: Bool = true, first: @escaping @Sendable (HTTPRequest) -> HTTPRequest = { $0 }, next: @escaping Next
    ) {
        self.urlTellsPages = urlTellsPages
        self.first = first
        self.next = next
    }

    /// The response links to the next page (RFC 8288).
    ///
    /// The next request is the first one with the link's URL. To another origin it goes without anything that the client takes for a
    /// credential: headers such as `Authorization`, the client's query items, those that were marked sensitive.
    ///
    /// - Parameter relation: Which link; `next` by default.
    public static func link(_ relation: String = "next") -> Pagination {
        Pagination { first, response, _ in
            guard let url = HTTPLink.url(relation, in: response) else { return nil }
            var request = first
            request.urlText = url
            return request
        }
    }

    /// Each page has the value that the next is requested with.
    ///
    /// - Parameters:
    ///   - parameter: The query item that takes the value.
    ///   - cursor: Finds the value in a response; nil or empty: it was the last page.
    public static func cursor(
        _ parameter: String, _ cursor: @escaping @Sendable (HTTPResponse) async throws -> String?
    ) -> Pagination {
        Pagination { first, response, _ in
            guard let value = try await cursor(response), !value.isEmpty else { return nil }
            return first.settingQuery(parameter, value)
        }
    }

    /// Each page has the value that the next is requested with in its JSON body: a string or a number. The last page has null there, an
    /// empty string or nothing, or has no body.
    ///
    /// - Parameters:
    ///   - parameter: The query item that takes the value.
    ///   - path: Where the value is, such as `\.meta.next_cursor`.
    public static func cursor(_ parameter: String, at path: KeyPath<JSONPath, JSONPath>) -> Pagination {
        let path = JSONPath(path)
        return cursor(parameter) { try $0.body.bytes?.isEmpty == true ? nil : JSONPart($0.data, of: $0).scalar(at: path) }
    }

    /// The pages have numbers.
    ///
    /// - Parameters:
    ///   - parameter: The query item that takes the number; `page` by default. The first request gets it as well.
    ///   - start: The number of the first page; 1 by default.
    ///   - isLast: Whether a response was the last page. By default that is one without a body, or whose body is an empty array.
    public static func number(
        _ parameter: String = "page", from start: Int = 1,
        isLast: (@Sendable (HTTPResponse) async throws -> Bool)? = nil
    ) -> Pagination {
        Pagination(first: { $0.settingQuery(parameter, "\(start)") }) { first, response, page in
            if let isLast { guard try await !isLast(response) else { return nil } }
            let (number, isPastEnd) = start.addingReportingOverflow(page)
            return isPastEnd || isLast == nil && response.isEmptyPage ? nil : first.settingQuery(parameter, "\(number)")
        }
    }

    /// By the closure.
    ///
    /// - Parameter next: Gets the first request and the last response, and makes the request for the next page; nil: there is none.
    ///   To another origin it is sent without credentials, as ``link(_:)`` does.
    public static func custom(
        _ next: @escaping @Sendable (_ first: HTTPRequest, _ response: HTTPResponse) async throws -> HTTPRequest?
    ) -> Pagination {
        Pagination(urlTellsPages: false) { first, response, _ in try await next(first, response) }
    }
}

extension HTTPResponse {
    /// Whether there is nothing in the body, or an array of nothing.
    fileprivate var isEmptyPage: Bool {
        let bytes = body.bytes ?? []
        // A longer body has something in it; so only little is looked at.
        return bytes.isEmpty
            || (bytes.count < 64 && bytes.filter { !" \t\r\n".utf8.contains($0) }.elementsEqual("[]".utf8))
    }
}

extension HTTPRequest {
    /// The request with one query item of the name, however it was spelled before.
    fileprivate func settingQuery(_ name: String, _ value: String) -> HTTPRequest {
        var request = self
        let wanted = Array(name.utf8)
        request.urlText = URLText.removing(from: request.urlText) { item in
            Array(item.utf8.prefix { $0 != UInt8(ascii: "=") }).percentDecoded(plusIsSpace: true) == wanted
        }
        request.addQuery(name, value)
        return request
    }
}
