/// A parser of text that others send. Its raw value names it on the command line and in the corpus.
public enum ForeignParser: String, CaseIterable, Sendable {
    case authenticate
    case cacheControl = "cache-control"
    case cacheEntry = "cache-entry"
    case charset
    case conditions
    case contentLength = "content-length"
    case cookieDate = "cookie-date"
    case cookieJar = "cookie-jar"
    case eventStream = "event-stream"
    case fields
    case httpDate = "http-date"
    case joinedCookies = "joined-cookies"
    case json
    case jsonLines = "json-lines"
    case jsonSequence = "json-sequence"
    case lines
    case link
    case location
    case multipart
    case publicKey = "public-key"
    case multipartResponse = "multipart-response"
    case redaction
    case noVarySearch = "no-vary-search"
    case request
    case requestHead = "request-head"
    case retryAfter = "retry-after"
    case setCookie = "set-cookie"
    case structured
    case url
    case vary
}
