internal import MidstreamCore

/// What an unsafe request makes wrong (RFC 9111 §4.4).
enum Invalidation {
    /// The URLs, normalised; none when the response is an error, or the method changes nothing.
    static func urls(after request: HTTPRequest, _ response: HTTPResponse) -> [String] {
        guard !request.method.isSafe else { return [] }
        guard response.status.isSuccess || response.status.isRedirection else { return [] }
        let target = NormalizedURL.text(request.urlText)
        let origin = HTTPOrigin(target)
        var urls = [target]
        // What MOVE and COPY write to (RFC 4918 §10.3) as well.
        let others = [
            response.headers.values(.location).first, response.headers.values(.contentLocation).first,
            request.headers["Destination"],
        ]
        for case let value? in others {
            guard
                let url = URLText.resolve(location: value, from: request.urlText), HTTPOrigin(url) == origin
            else { continue }
            let text = NormalizedURL.text(url)
            if !urls.contains(text) { urls.append(text) }
        }
        return urls
    }

    /// Whether a response wants all of its origin forgotten (Clear-Site-Data §3.1).
    static func clearsOrigin(_ response: HTTPResponse) -> Bool {
        response.headers.members(of: "Clear-Site-Data").contains { $0 == "\"cache\"" || $0 == "\"*\"" }
    }
}
