/// A parser of text that others send. Its raw value names it on the command line and in the corpus.
public enum ForeignParser: String, CaseIterable, Sendable {
    case authenticate
    case cacheControl = "cache-control"
    case cacheEntry = "cache-entry"
    case cacheHead = "cache-head"
    case canonicalRequest = "canonical-request"
    case charset
    case conditions
    #if os(Linux)
        case contentCoding = "content-coding"
    #endif
    case contentLength = "content-length"
    case cookieDate = "cookie-date"
    case cookieJar = "cookie-jar"
    case digestField = "digest-field"
    case eventStream = "event-stream"
    case fields
    case httpArchive = "http-archive"
    case httpDate = "http-date"
    case joinedCookies = "joined-cookies"
    case json
    case jsonLines = "json-lines"
    case jsonSequence = "json-sequence"
    case lines
    case link
    case location
    case multipart
    case multipartResponse = "multipart-response"
    case noVarySearch = "no-vary-search"
    case oauthAnswer = "oauth-answer"
    case partRecord = "part-record"
    case publicKey = "public-key"
    case rangeAnswer = "range-answer"
    case rateLimit = "rate-limit"
    case redaction
    case redisReply = "redis-reply"
    case request
    case requestHead = "request-head"
    #if os(Linux)
        case responseHead = "response-head"
    #endif
    case retryAfter = "retry-after"
    case setCookie = "set-cookie"
    case socketAgreement = "socket-agreement"
    case socketFrames = "socket-frames"
    case socketHandshake = "socket-handshake"
    case socketMessages = "socket-messages"
    case structured
    case traceParent = "trace-parent"
    case uploadLimit = "upload-limit"
    case uriTemplate = "uri-template"
    case url
    case vary
    #if os(Linux)
        case wireFrames = "wire-frames"
        case wireResponse = "wire-response"
    #endif
}
