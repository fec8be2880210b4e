internal import MidstreamCore

/// What a response says to caches, found by one look through its fields: to look each field up takes longer than all the rest of storing.
struct ResponseFields: Sendable {
    /// `Cache-Control`, all of them.
    private(set) var cacheControl: [String] = []
    private(set) var vary: [String] = []
    private(set) var connection: [String] = []
    /// Those that have one value are those of the first field.
    private(set) var age: String?
    private(set) var date: String?
    private(set) var expires: String?
    private(set) var lastModified: String?
    private(set) var tag: String?
    private(set) var contentLength: Int64?
    private(set) var hasContentLength = false
    private(set) var hasContentRange = false
    private(set) var hasContentEncoding = false
    private(set) var hasNoVarySearch = false
    private(set) var clearsSiteData = false

    private static let table = FieldNameTable([
        .cacheControl, .vary, .connection, .age, .date, .expires, .lastModified, .eTag, .contentLength, .contentRange,
        .contentEncoding, "No-Vary-Search", "Clear-Site-Data",
    ])

    init(_ headers: HTTPHeaders) {
        headers.forEachField(in: Self.table) { place, value in
            switch place {
            case 0: cacheControl.append(String(fieldBytes: value))
            case 1: vary.append(String(fieldBytes: value))
            case 2: connection.append(String(fieldBytes: value))
            case 3: age = age ?? String(fieldBytes: value)
            case 4: date = date ?? String(fieldBytes: value)
            case 5: expires = expires ?? String(fieldBytes: value)
            case 6: lastModified = lastModified ?? String(fieldBytes: value)
            case 7: tag = tag ?? String(fieldBytes: value)
            case 8:
                if !hasContentLength { contentLength = ByteNumber.read(value) }
                hasContentLength = true
            case 9: hasContentRange = true
            case 10: hasContentEncoding = true
            case 11: hasNoVarySearch = true
            default: clearsSiteData = true
            }
        }
    }
}
