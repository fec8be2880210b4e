import Foundation
import Interception
import MidstreamCacheStore
import MidstreamCore
import TestSupport
import Testing

@testable import MidstreamCache

@Suite("What a cache decides, as RFC 9111, 5861 and 8246 want it", .leavesNothing)
struct DecisionTests {
    private static let received = Date(timeIntervalSince1970: 1_700_000_000)
    private static let fingerprint = Fingerprint(salt: [])

    /// A response of ten bytes that is stored, and how much of it is there.
    struct Stored: Sendable {
        var fields: HTTPHeaders
        var holds: Range<Int64> = 0..<10
        var isInvalidated = false
        /// Whether it is stored for anybody, and the request has an owner.
        var isAnybodys = false

        init(_ fields: HTTPHeaders, _ holds: Range<Int64> = 0..<10) {
            self.fields = fields
            self.holds = holds
        }

        fileprivate func entry(_ request: HTTPRequest, isShared: Bool) -> CacheEntry {
            var fields = fields
            fields["Date"] = HTTPDate.text(received)
            let response = HTTPResponse(status: 200, headers: fields, request: request)
            let head = StoredHead(
                response, to: request, requestTime: received, responseTime: received, rules: CacheRules(isShared: isShared),
                fingerprint: fingerprint)
            return CacheEntry(
                key: CacheKey(url: "u"), head: isInvalidated ? head.invalidated : head, parts: StoredRanges([holds]), length: 10)
        }

        fileprivate var invalidated: Stored {
            var stored = self
            stored.isInvalidated = true
            return stored
        }

        fileprivate var anybodys: Stored {
            var stored = self
            stored.isAnybodys = true
            return stored
        }
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let section: String
        /// The first one matches.
        var stored: [Stored] = []
        var seconds = 5.0
        var request: HTTPHeaders = [:]
        var method = HTTPMethod.get
        var use = CacheUse.standard
        var isShared = false
        let expected: String

        var testDescription: String { "\(section): \(request) \(seconds) s → \(expected)" }

        init(
            _ section: String, _ stored: Stored?, _ seconds: Double = 5, _ request: HTTPHeaders = [:],
            _ method: HTTPMethod = .get,
            _ use: CacheUse = .standard, isShared: Bool = false, also others: [Stored] = [], is expected: String
        ) {
            (self.section, self.stored) = (section, (stored.map { [$0] } ?? []) + others)
            (self.seconds, self.request, self.method, self.use) = (seconds, request, method, use)
            (self.isShared, self.expected) = (isShared, expected)
        }
    }

    private static let fresh = Stored(["Cache-Control": "max-age=10", "ETag": "\"a\""])
    private static let part = Stored(["Cache-Control": "max-age=10", "ETag": "\"a\""], 0..<4)

    static let rows: [Row] = [
        // RFC 9111 §4: what is stored.
        Row("§4", nil, is: "fetch, nothing stored"),
        Row("§4", fresh, is: "fresh for 5, whole"),
        Row("§4", fresh, 5, [:], .head, is: "fresh for 5, head"),
        Row("§4.2", fresh, 10, is: "validate \"a\", stale"),
        Row("§4.2", Stored(["Cache-Control": "max-age=10"]), 11, is: "fetch, stale"),
        Row("§4.2", Stored(["Cache-Control": "max-age=10, s-maxage=3"]), 5, isShared: true, is: "fetch, stale"),
        Row("§4.2", Stored(["Cache-Control": "max-age=10, s-maxage=3"]), 5, is: "fresh for 5, whole"),
        Row("§4.2.2", Stored(["Last-Modified": HTTPDate.text(received - 1000)]), 50, is: "fresh for 50, whole"),
        Row("§4.2.3", fresh, -1, is: "validate \"a\", stale"),
        // §4.1: which of the variants.
        Row(
            "§4.1", nil, also: [fresh, Stored(["Cache-Control": "max-age=10", "ETag": "\"b\""])],
            is: "validate \"a\" \"b\", nothing stored for these fields"),
        Row("§4.1", nil, also: [Stored(["Cache-Control": "max-age=10"])], is: "fetch, nothing stored for these fields"),
        // §4.3.1: conditions.
        Row("§4.3.1", fresh, 20, also: [fresh], is: "validate \"a\", stale"),
        Row(
            "§4.3.1", Stored(["Cache-Control": "max-age=10", "Last-Modified": "Tue, 14 Nov 2023 22:00:00 GMT"]), 20,
            is: "validate Tue, 14 Nov 2023 22:00:00 GMT, stale"),
        Row("§4.3.1", fresh, 20, [:], .head, is: "fetch, stale"),
        Row("§4.3.1", fresh.anybodys, 20, is: "validate \"a\", stale"),
        Row(
            "§4.3.1", Stored(["Last-Modified": "Tue, 14 Nov 2023 22:00:00 GMT"]).anybodys, 20_000, is: "fetch, stale"),
        Row("§4.3.1", fresh, 20, ["If-None-Match": "\"x\""], is: "fetch, stale"),
        Row("§4.3.1", fresh.invalidated, is: "validate \"a\", it has changed on the server"),
        // §4.3.2: the caller's own conditions.
        Row("§4.3.2", fresh, 5, ["If-None-Match": "W/\"a\""], is: "fresh for 5, 304"),
        Row("§4.3.2", fresh, 5, ["If-None-Match": "\"b\""], is: "fresh for 5, whole"),
        Row("§4.3.2", fresh, 5, ["If-Modified-Since": "Tue, 14 Nov 2023 22:13:20 GMT"], is: "fresh for 5, 304"),
        Row("§4.3.2", fresh, 5, ["If-Modified-Since": "Tue, 14 Nov 2023 22:13:19 GMT"], is: "fresh for 5, whole"),
        // §5.2.1: directives of the request.
        Row("§5.2.1.1", fresh, 5, ["Cache-Control": "max-age=4"], is: "validate \"a\", older than the request allows"),
        Row("§5.2.1.1", fresh, 5, ["Cache-Control": "max-age=5"], is: "fresh for 5, whole"),
        Row("§5.2.1.2", fresh, 12, ["Cache-Control": "max-stale=2"], is: "stale for 2, whole"),
        Row("§5.2.1.2", fresh, 13, ["Cache-Control": "max-stale=2"], is: "validate \"a\", stale"),
        Row("§5.2.1.2", fresh, 999, ["Cache-Control": "max-stale"], is: "stale for 989, whole"),
        Row(
            "§5.2.1.3", fresh, 5, ["Cache-Control": "min-fresh=6"],
            is: "validate \"a\", not fresh for as long as the request wants"),
        Row("§5.2.1.4", fresh, 5, ["Cache-Control": "no-cache"], is: "validate \"a\", the request wants it validated"),
        Row("§5.4", fresh, 5, ["Pragma": "no-cache"], is: "validate \"a\", the request wants it validated"),
        Row("§5.2.1.7", fresh, 5, ["Cache-Control": "only-if-cached"], is: "fresh for 5, whole"),
        Row("§5.2.1.7", fresh, 15, ["Cache-Control": "only-if-cached"], is: "504, stale"),
        Row("§5.2.1.7", nil, 5, ["Cache-Control": "only-if-cached"], is: "504, nothing stored"),
        Row("§5.2.1.7", part, 5, ["Cache-Control": "only-if-cached"], is: "504, only a part is stored"),
        // §5.2.2: directives of the response.
        Row(
            "§5.2.2.2", Stored(["Cache-Control": "max-age=10, must-revalidate", "ETag": "\"a\""]), 12,
            ["Cache-Control": "max-stale"], is: "validate \"a\", stale"),
        Row(
            "§5.2.2.4", Stored(["Cache-Control": "max-age=10, no-cache", "ETag": "\"a\""]),
            is: "validate \"a\", the server wants it validated"),
        Row(
            "§5.2.2.8", Stored(["Cache-Control": "max-age=10, proxy-revalidate"]), 12, ["Cache-Control": "max-stale"],
            is: "stale for 2, whole"),
        Row(
            "§5.2.2.8", Stored(["Cache-Control": "max-age=10, proxy-revalidate"]), 12, ["Cache-Control": "max-stale"],
            isShared: true, is: "fetch, stale"),
        // RFC 5861 §3 and RFC 8246 §2.
        Row(
            "5861 §3", Stored(["Cache-Control": "max-age=10, stale-while-revalidate=5"]), 14,
            is: "stale for 4, validated meanwhile, whole"),
        Row("5861 §3", Stored(["Cache-Control": "max-age=10, stale-while-revalidate=5"]), 15, is: "fetch, stale"),
        Row(
            "5861 §3", Stored(["Cache-Control": "max-age=10, stale-while-revalidate=5"]), 14,
            ["Cache-Control": "only-if-cached"], is: "stale for 4, whole"),
        Row(
            "8246 §2", Stored(["Cache-Control": "max-age=10, immutable"]), 5, ["Cache-Control": "max-age=0"],
            is: "fresh for 5, whole"),
        Row(
            "8246 §2", Stored(["Cache-Control": "max-age=10"]), 5, ["Cache-Control": "max-age=0"],
            is: "fetch, older than the request allows"),
        // RFC 9110 §14 and RFC 9111 §3.4: parts.
        Row("9110 §14", fresh, 5, ["Range": "bytes=2-4"], is: "fresh for 5, 206 2..<5"),
        Row("9110 §14", fresh, 5, ["Range": "bytes=-3"], is: "fresh for 5, 206 7..<10"),
        Row("9110 §14", fresh, 5, ["Range": "bytes=10-"], is: "fresh for 5, 416"),
        Row("9110 §14", fresh, 5, ["Range": "bytes=0-1,4-5"], is: "fresh for 5, whole"),
        Row("9110 §13.1.5", fresh, 5, ["Range": "bytes=2-4", "If-Range": "\"a\""], is: "fresh for 5, 206 2..<5"),
        Row("9110 §13.1.5", fresh, 5, ["Range": "bytes=2-4", "If-Range": "\"b\""], is: "fresh for 5, whole"),
        Row("§3.4", part, 5, ["Range": "bytes=1-3"], is: "fresh for 5, 206 1..<4"),
        Row("§3.4", part, is: "complete from 4, only a part is stored"),
        Row("§3.4", part, 15, is: "complete from 4, stale"),
        Row("§3.4", part, 5, ["Range": "bytes=2-7"], is: "complete 4..<8, only a part is stored"),
        Row("§3.4", part, 5, ["Range": "bytes=6-7"], is: "fetch, only a part is stored"),
        Row("§3.4", part.invalidated, is: "fetch, it has changed on the server"),
        Row("§3.4", Stored(["Cache-Control": "max-age=10", "ETag": "W/\"a\""], 0..<4), is: "fetch, only a part is stored"),
        Row("§3.4", Stored(["Cache-Control": "max-age=10"], 4..<10), is: "fetch, only a part is stored"),
        // What programs want beyond fields.
        Row("reload", fresh, 5, [:], .get, .reload, is: "fetch, the request wants it validated"),
        Row("only if cached", fresh, 15, [:], .get, .onlyIfCached, is: "504, stale"),
        Row(
            "only if cached", Stored(["Cache-Control": "max-age=10, stale-while-revalidate=5"]), 14, [:], .get, .onlyIfCached,
            is: "stale for 4, whole"),
        Row("ignoring freshness", fresh, 5, [:], .get, .ignoringFreshness, is: "fresh for 5, whole"),
        Row("ignoring freshness", fresh, 50, [:], .get, .ignoringFreshness, is: "stale for 40, whole"),
    ]

    @Test("by request, stored responses and time", arguments: rows)
    func decides(row: Row) {
        var request = HTTPRequest(row.method, "http://decision.test/", headers: row.request)
        request.cache = row.use
        let entries = row.stored.map { $0.entry(request, isShared: row.isShared) }
        var lookup = CacheLookup(key: CacheKey(url: "u"), fingerprint: Self.fingerprint, variants: entries)
        if row.stored.first?.isAnybodys == true { lookup.key = CacheKey(url: "u", partition: "me") }
        if row.section != "§4.1" { lookup.match = entries.first }
        let decision = CacheRules(isShared: row.isShared)
            .decide(row.method, CacheDemand(request), lookup, at: Self.received + row.seconds)
        #expect("\(decision)" == row.expected)
    }
}

extension CacheDecision: CustomStringConvertible {
    var description: String {
        switch self {
        case .fresh(let answer): "fresh for \(Int(answer.left)), \(answer.form)"
        case .stale(let answer): "stale for \(Int(-answer.left)), \(answer.form)"
        case .staleWhileRevalidate(let answer): "stale for \(Int(-answer.left)), validated meanwhile, \(answer.form)"
        case .validate(let reason, let validators):
            "validate \((validators.tags.map(\.text) + [validators.modified].compactMap(\.self)).joined(separator: " ")), \(reason.text)"
        case .complete(let reason, let part):
            "complete \(part.end.map { "\(part.start..<$0)" } ?? "from \(part.start)"), \(reason.text)"
        case .fetch(let reason): "fetch, \(reason.text)"
        case .refuse(let reason): "504, \(reason.text)"
        }
    }
}

extension StoredAnswer.Form: CustomStringConvertible {
    var description: String {
        switch self {
        case .notModified: "304"
        case .head: "head"
        case .whole: "whole"
        case .part(let range, _): "206 \(range)"
        case .unsatisfiable: "416"
        }
    }
}
