import Foundation
import MidstreamCacheStore
import MidstreamCore
import Testing

@testable import MidstreamCache

@Suite("What a cache decides by the response to its request")
struct ResponseDecisionTests {
    private static let now = Date(timeIntervalSince1970: 1_700_000_100)

    struct Row: Sendable, CustomTestStringConvertible {
        let section: String
        /// What is stored: its tag, the bytes of ten that are there, and for how long it may answer in the place of an error.
        var tag = "\"a\""
        var holds: Range<Int64> = 0..<10
        var staleIfError = 0
        var request: HTTPHeaders = [:]
        var isForeign = false
        let status: HTTPStatus
        var response: HTTPHeaders = [:]
        let expected: String

        var testDescription: String { "\(section): \(status) → \(expected)" }
    }

    static let rows: [Row] = [
        Row(section: "9111 §4.3.4", status: 304, response: ["ETag": "\"a\""], expected: "freshen"),
        Row(section: "9111 §4.3.4", status: 304, expected: "freshen"),
        Row(section: "9111 §4.3.4", tag: "W/\"a\"", status: 304, response: ["ETag": "\"a\""], expected: "freshen"),
        Row(section: "9111 §4.3.4", status: 304, response: ["ETag": "\"b\""], expected: "again"),
        Row(section: "9111 §4.3.4", tag: "\"a-gzip\"", status: 304, response: ["ETag": "\"a\""], expected: "freshen"),
        Row(section: "9111 §4.3.4", tag: "\"a-b\"", status: 304, response: ["ETag": "\"a\""], expected: "again"),
        Row(section: "9111 §4.3.4", status: 304, response: ["ETag": "W/\"b\""], expected: "freshen"),
        Row(section: "9111 §4.3.3", status: 200, response: ["ETag": "\"b\""], expected: "store"),
        Row(
            section: "9111 §4.3.4", request: ["If-None-Match": "\"a\""], status: 304, response: ["ETag": "\"a\""],
            expected: "pass, updating"),
        Row(
            section: "9111 §4.3.4", request: ["If-None-Match": "\"b\""], status: 304, response: ["ETag": "\"b\""],
            expected: "pass"),
        Row(
            section: "9111 §4.3.4", request: ["If-None-Match": "\"a\""], isForeign: true, status: 304,
            response: ["ETag": "\"a\""], expected: "pass"),
        Row(
            section: "9111 §3.4", holds: 0..<4, status: 206, response: ["ETag": "\"a\"", "Content-Range": "bytes 4-9/10"],
            expected: "combine 0..<10"),
        Row(
            section: "9111 §3.4", holds: 0..<4, request: ["Range": "bytes=2-7"], status: 206,
            response: ["ETag": "\"a\"", "Content-Range": "bytes 4-7/10"], expected: "combine 2..<8"),
        Row(
            section: "9111 §3.4", holds: 0..<4, status: 206, response: ["ETag": "\"b\"", "Content-Range": "bytes 4-9/10"],
            expected: "again"),
        Row(
            section: "9111 §3.4", holds: 0..<4, status: 206, response: ["ETag": "\"a\"", "Content-Range": "bytes 5-9/10"],
            expected: "again"),
        Row(
            section: "9111 §3.4", holds: 0..<4, isForeign: true, status: 206,
            response: ["ETag": "\"a\"", "Content-Range": "bytes 4-9/10"], expected: "again"),
        Row(section: "9110 §15.5.17", holds: 0..<4, status: 416, expected: "again"),
        Row(section: "9110 §15.5.17", status: 416, expected: "store"),
        Row(section: "9110 §14.2", holds: 0..<4, status: 200, expected: "store"),
        Row(
            section: "9110 §14.4", holds: 0..<4, status: 200, response: ["ETag": "\"a\"", "Content-Range": "bytes 4-9/10"],
            expected: "again"),
        Row(section: "9110 §8.4", holds: 0..<4, status: 200, response: ["Content-Encoding": "gzip"], expected: "again"),
        Row(
            section: "9110 §8.4", holds: 0..<4, request: ["Accept-Encoding": "gzip"], status: 200,
            response: ["Content-Encoding": "gzip"], expected: "store"),
        Row(
            section: "9110 §8.4", holds: 0..<4, request: ["Range": "bytes=2-7"], status: 200,
            response: ["Content-Encoding": "gzip"], expected: "store"),
        Row(section: "5861 §4", staleIfError: 99, status: 503, expected: "stale for 90"),
        Row(section: "5861 §4", staleIfError: 80, status: 503, expected: "store"),
        Row(section: "5861 §4", staleIfError: 99, status: 501, expected: "store"),
        Row(section: "5861 §4", holds: 0..<4, staleIfError: 99, status: 500, expected: "store"),
    ]

    @Test("which is freshen, combine, use the stale one, send again, pass or store", arguments: rows)
    func decides(row: Row) {
        let rules = CacheRules()
        let request = HTTPRequest("http://decision.test/", headers: row.request)
        let sent = Self.now - 100
        let stored = HTTPResponse(
            status: 200,
            headers: [
                "Cache-Control": "max-age=10, stale-if-error=\(row.staleIfError)", "ETag": "\(row.tag)",
                "Date": "\(HTTPDate.text(sent))",
            ], request: request)
        let fingerprint = Fingerprint(salt: [])
        let head = StoredHead(
            stored, to: request, requestTime: sent, responseTime: sent, rules: rules, fingerprint: fingerprint)
        let key = CacheKey(url: "u")
        let entry = CacheEntry(key: key, head: head, parts: StoredRanges([row.holds]), length: 10)
        let lookup = CacheLookup(key: key, fingerprint: fingerprint, match: entry, variants: [entry])
        let demand = CacheDemand(request)
        let decision = rules.decide(.get, demand, lookup, at: Self.now)
        let miss = CacheMiss(request, demand, lookup, .nothingStored, decision, on: ContinuousClock())
        let response = HTTPResponse(status: row.status, headers: row.response, request: request)
        let text =
            switch rules.decide(on: response, to: miss, isForeign: row.isForeign, at: Self.now) {
            case .freshen(let entry): entry.key == key ? "freshen" : "freshen another"
            case .combine(_, let wanted): "combine \(wanted)"
            case .stale(let answer): "stale for \(Int(-answer.left))"
            case .sendAgain: "again"
            case .pass(let entry): entry == nil ? "pass" : "pass, updating"
            case .store: "store"
            }
        #expect(text == row.expected)
    }
}
