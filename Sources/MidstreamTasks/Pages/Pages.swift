internal import Foundation
internal import Interception
public import MidstreamCore

extension DataTask {
    /// The pages that the answer is divided into, each requested on demand.
    ///
    /// ```swift
    /// for try await page in client.get("users").pages(.link()) {
    ///     users += try page.decode([User].self)
    /// }
    /// ```
    ///
    /// Iterating again begins again at the first page. It ends with the last page, after the given number of pages, or with an error: what
    /// ``HTTPClient/send(_:)->HTTPResponse`` throws, for a rejected status too; ``HTTPError/Code/protocolViolation`` when a page leads to one
    /// that was read already, or from https to http; what the pagination throws. A fallback can answer in place of the first page alone,
    /// since its answer to another one would pass for the end.
    ///
    /// - Parameters:
    ///   - pagination: How one page leads to the next.
    ///   - limit: The most pages that are requested; 1,000 by default. Where there are more, the sequence ends without an error all the same.
    public func pages(_ pagination: Pagination, limit: Int = 1_000) -> ElementSequence<HTTPResponse> {
        ElementSequence(PageSequence(task: self, pagination: pagination, limit: limit))
    }
}

extension ElementSequence<HTTPResponse> {
    /// The responses, such as the pages of an answer, decoded where the reader is: also on the main actor. Reading throws
    /// ``HTTPError/Code/decoding`` for one that can't be.
    ///
    /// - Parameters:
    ///   - path: The part of each JSON body that is decoded; the whole by default.
    ///   - decoder: nil, the default: the request's or the client's.
    public func decode<Page: Decodable>(
        _ type: Page.Type = Page.self, at path: KeyPath<JSONPath, JSONPath> = \.self, decoder: (any BodyDecoder)? = nil
    ) -> ElementSequence<Page> {
        ElementSequence<Page>(DecodedPages(pages: self, path: JSONPath(path), decoder: decoder))
    }
}

private struct PageSequence: ElementSource {
    let task: DataTask
    let pagination: Pagination
    let limit: Int

    func makeIterator() -> Iterator { Iterator(self) }

    struct Iterator: ElementIterator {
        private enum State {
            case atStart
            case after(HTTPResponse)
            case atEnd
        }

        private let sequence: PageSequence
        private let first: HTTPRequest
        private var state = State.atStart
        private var page = 0
        private var visited: Set<String> = []

        init(_ sequence: PageSequence) {
            self.sequence = sequence
            var first = sequence.pagination.first(sequence.task.request)
            // Links don't repeat the user of a URL. The client's own credentials go before that, as for a single request.
            if Self.hasCredentials(sequence.task.client, for: first) {
                first.urlText = URLText.withoutUserInfo(first.urlText)
            } else {
                first.moveCredentialsToHeader()
            }
            self.first = first
        }

        /// Whether the client adds an `Authorization` of its own to a request.
        private static func hasCredentials(_ client: HTTPClient, for request: HTTPRequest) -> Bool {
            client.configuration.headers.contains(.authorization)
                && client.baseOrigin?.matchesOrSecures(request.urlText) != false
        }

        nonisolated(nonsending) mutating func next() async throws -> HTTPResponse? {
            let before = state
            state = .atEnd
            guard page < sequence.limit, let request = try await request(after: before) else { return nil }
            try Task.checkCancellation()
            let response = try await DataTask(request, client: sequence.task.client).response()
            page += 1
            state = .after(response)
            return response
        }

        nonisolated(nonsending) private mutating func request(after state: State) async throws -> HTTPRequest? {
            switch state {
            case .atEnd: return nil
            case .atStart:
                if let url = try? resolved(first.urlText) { visited.insert(url) }
                return first
            case .after(let response):
                guard let next = try await sequence.pagination.next(first, response, page) else { return nil }
                return try checked(next)
            }
        }

        /// The request for the next page as it may be sent.
        private mutating func checked(_ next: HTTPRequest) throws -> HTTPRequest {
            var next = next
            next.urlText = try resolved(next.urlText)
            guard visited.insert(next.urlText).inserted || !sequence.pagination.urlTellsPages else {
                throw HTTPError(
                    .protocolViolation, "A page leads to \(next.redactedURL), which was read already.", request: next,
                    phase: .notSent)
            }
            let start = try resolved(first.urlText)
            // It is that of the first page's host.
            if let address = next.address, address == first.address, HTTPOrigin(start) != HTTPOrigin(next.urlText) {
                next.address = nil
            }
            // An answer in its place, such as an empty one, would be the last page.
            next.needsServersAnswer = true
            if OriginMatch(start)?.matchesOrSecures(next.urlText) == true { return next }
            if start.hasSecureScheme, !next.urlText.hasSecureScheme {
                throw HTTPError(
                    .protocolViolation, "A page leads from https to \(next.redactedURL).", request: next, phase: .notSent)
            }
            next.interceptors.append(CredentialRemoval(of: sequence.task.client.configuration))
            return next
        }

        /// The absolute URL without what the client adds to it; servers repeat that in their links.
        private func resolved(_ text: String) throws -> String {
            let client = sequence.task.client
            let url = try URLText.resolve(text, base: client.baseURL, query: nil)
            return CredentialRemoval(of: client.configuration).withoutItems(url)
        }
    }
}

private struct DecodedPages<Element: Decodable>: ElementSource {
    let pages: ElementSequence<HTTPResponse>
    let path: JSONPath
    let decoder: (any BodyDecoder)?

    func makeIterator() -> Iterator { Iterator(pages: pages.makeAsyncIterator(), sequence: self) }

    struct Iterator: ElementIterator {
        var pages: ElementSequence<HTTPResponse>.AsyncIterator
        let sequence: DecodedPages

        nonisolated(nonsending) mutating func next() async throws -> Element? {
            guard let response = try await nextWithContent() else { return nil }
            guard !sequence.path.steps.isEmpty else { return try response.decode(Element.self, decoder: sequence.decoder) }
            let part = try JSONPart(response.data, of: response).part(at: sequence.path)
            return try JSONPart(part, of: response, at: sequence.path.steps).decode(Element.self, by: sequence.decoder)
        }

        /// A 204 is the last page, and nothing to decode.
        nonisolated(nonsending) private mutating func nextWithContent() async throws -> HTTPResponse? {
            while let response = try await pages.next() {
                if response.status != .noContent { return response }
            }
            return nil
        }
    }
}

/// Removes all credentials from a request to another origin, wherever they come from: the request, the client's
/// configuration or an authenticating interceptor.
struct CredentialRemoval: HTTPInterceptor {
    let stage = InterceptorStage.exchange
    /// Behind those of the client that have the usual rank, which may add some.
    let rank = InterceptorRank.wire
    let traits = InterceptorTraits.endsInTime
    /// The items that the client adds to each URL, as they read: a server may encode them otherwise than the client does.
    private let items: Set<[UInt8]>

    init(of configuration: HTTPClient.Configuration) { items = Set(configuration.query.map { Array("\($0)=\($1)".utf8) }) }

    /// The URL without them.
    func withoutItems(_ url: String) -> String {
        guard !items.isEmpty else { return url }
        return URLText.removing(from: url) { item in
            [true, false].contains { items.contains(Array(item.utf8).percentDecoded(plusIsSpace: $0)) }
        }
    }

    func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        var request = request
        request.removeCredentials()
        request.urlText = withoutItems(request.urlText)
        return try await next(request)
    }
}
