import Foundation
import Interception
import MidstreamCache
import MidstreamCacheStore
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("Parts of responses", .leavesNothing, .timeLimit(.minutes(10)))
struct RangeTests {
    private static let text = "0123456789"

    /// Serves ranges of ten digits, as servers do.
    private func bench(
        _ headers: HTTPHeaders = ["ETag": "\"a\""], store: any CacheStore = MemoryCacheStore(),
        options: (inout CacheOptions) -> Void = { _ in },
        status: @escaping @Sendable (_ range: String) -> HTTPStatus = { _ in 206 }
    ) -> CacheBench {
        CacheBench(store: store, options: options) { request in
            var headers = headers
            headers["Cache-Control"] = "max-age=60"
            let text = Self.text
            guard let range = request.headers["Range"], request.headers["If-Range"] ?? "\"a\"" == "\"a\"" else {
                headers["Content-Length"] = "\(text.utf8.count)"
                return HTTPResponse(status: 200, headers: headers, body: .text(text), request: request)
            }
            let bounds = range.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
            let first = bounds[0] ?? text.count - (bounds[1] ?? 0)
            let last = bounds[0] == nil ? text.count - 1 : min(bounds[1] ?? text.count - 1, text.count - 1)
            headers["Content-Range"] = "bytes \(first)-\(last)/\(text.count)"
            return HTTPResponse(
                status: status(range), headers: headers, body: .bytes(Array(Array(text.utf8)[first...last])), request: request)
        }
    }

    private func get(_ bench: CacheBench, _ range: String?, _ more: HTTPHeaders = [:]) async throws -> HTTPResponse {
        var headers = more
        headers["Range"] = range.map { "bytes=\($0)" }
        return try await bench.get(CacheBench.url, headers)
    }

    @Test(
        "a whole response answers any single range",
        arguments: [
            ("0-1", "01", "bytes 0-1/10"), ("1-", "123456789", "bytes 1-9/10"), ("-1", "9", "bytes 9-9/10"),
            ("8-99", "89", "bytes 8-9/10"),
        ])
    func fromWhole(range: String, text: String, field: String) async throws {
        let bench = bench()
        _ = try await get(bench, nil)
        let part = try await get(bench, range)
        #expect(part.status == 206 && part.text == text && part.isHit)
        #expect(part.headers["Content-Range"] == field && part.headers["Content-Length"] == "\(text.utf8.count)")
        #expect(bench.sent == 1)
    }

    @Test("anybody's part isn't completed for a user")
    func anybodysPart() async throws {
        let bench = bench()
        _ = try await get(bench, "0-4")
        #expect(try await get(bench, nil, ["Authorization": "a"]).text == Self.text)
        #expect(bench.sent == 2 && bench.stub.requests.last?.headers["Range"] == nil)
    }

    @Test("a rest that ends early isn't joined")
    func shortRest() async throws {
        let bench = CacheBench { request in
            var headers: HTTPHeaders = ["ETag": "\"a\"", "Cache-Control": "max-age=60"]
            guard let range = request.headers["Range"] else {
                return HTTPResponse(status: 200, headers: headers, body: .text(Self.text), request: request)
            }
            let bytes = range == "bytes=0-4" ? 0...4 : 5...7
            headers["Content-Range"] = "bytes \(bytes.lowerBound)-\(bytes.upperBound)/10"
            return HTTPResponse(
                status: 206, headers: headers, body: .bytes(Array(Array(Self.text.utf8)[bytes])), request: request)
        }
        _ = try await get(bench, "0-4")
        #expect(try await get(bench, nil).text == Self.text)
    }

    @Test("If-Range by what doesn't tell bytes apart gets the whole")
    func weakIfRange() async throws {
        let (modified, tag) = ("Tue, 14 Nov 2023 22:13:00 GMT", "W/\"a\"")
        for (bench, condition) in [(bench(["Last-Modified": modified]), modified), (bench(["ETag": tag]), tag)] {
            _ = try await get(bench, nil)
            let answer = try await get(bench, "0-1", ["If-Range": condition])
            #expect(answer.status == 200 && answer.text == Self.text && bench.sent == 1)
        }
    }

    @Test("the digest of a whole isn't that of a part, nor that of a part the whole's")
    func digests() async throws {
        let whole: HTTPHeaders = ["ETag": "\"a\"", "Content-Digest": "whole", "Repr-Digest": "all"]
        let bench = bench(whole)
        #expect(try await get(bench, nil).headers["Content-Digest"] == "whole")
        #expect(try await get(bench, nil).headers["Content-Digest"] == "whole")
        let part = try await get(bench, "2-4")
        #expect(part.isHit && part.headers["Content-Digest"] == nil && part.headers["Repr-Digest"] == "all")
        let head = try await bench.get { $0.method = .head }
        #expect(head.isHit && head.headers["Content-Digest"] == nil && head.headers["Repr-Digest"] == "all")
        let parts = self.bench(whole)
        _ = try await get(parts, "0-4")
        for isHit in [false, true] {
            let joined = try await get(parts, nil)
            #expect(joined.text == Self.text && joined.isHit == isHit && parts.sent == 2)
            #expect(joined.headers["Content-Digest"] == nil && joined.headers["Repr-Digest"] == "all")
        }
    }

    @Test("a 304 doesn't change the digests of what is stored")
    func digestsOfUnmodified() async throws {
        let bench = CacheBench { request in
            let isAsked = request.headers["If-None-Match"] != nil
            let digest = isAsked ? "other" : "own"
            return HTTPResponse(
                status: isAsked ? 304 : 200,
                headers: ["Cache-Control": "max-age=1", "ETag": "W/\"a\"", "Content-Digest": digest, "Repr-Digest": digest],
                body: .text(isAsked ? "" : "x"), request: request)
        }
        _ = try await bench.get()
        bench.clock.advance(5)
        let validated = try await bench.get()
        #expect(bench.sent == 2 && validated.headers["Content-Digest"] == "own" && validated.headers["Repr-Digest"] == "own")
    }

    @Test("a range behind the end isn't there, and several are the server's")
    func unsatisfiable() async throws {
        let bench = bench()
        _ = try await get(bench, nil)
        let none = try await get(bench, "10-")
        #expect(none.status == 416 && none.headers["Content-Range"] == "bytes */10" && none.isHit)
        #expect(try await get(bench, "0-1", ["If-Range": "\"b\""]).text == Self.text)
        #expect(try await get(bench, "0-1", ["If-Range": "\"a\""]).text == "01")
        #expect(bench.sent == 1)
    }

    @Test(
        "a part answers what lies within it",
        arguments: [("-5", "56789"), ("6-8", "678"), ("6-", "6789"), ("-1", "9")])
    func fromPart(range: String, text: String) async throws {
        let bench = bench()
        #expect(try await get(bench, "-5").text == "56789")
        let part = try await get(bench, range)
        #expect(part.status == 206 && part.text == text && part.isHit)
        #expect(bench.sent == 1)
    }

    @Test("a part is completed by what is missing, and then is whole")
    func completion() async throws {
        let bench = bench()
        _ = try await get(bench, "0-4")
        let whole = try await get(bench, nil)
        #expect(whole.status == 200 && whole.text == Self.text && whole.headers["Content-Range"] == nil)
        #expect(bench.stub.requests.last?.headers["Range"] == "bytes=5-")
        #expect(bench.stub.requests.last?.headers["If-Range"] == "\"a\"")
        #expect(whole.cacheStatus?.forward == .partial)
        #expect(try await get(bench, nil).isHit)
        #expect(bench.sent == 2)
    }

    @Test("a part isn't the whole, whatever its status says")
    func partWithStatusOfWhole() async throws {
        let bench = bench(status: { _ in 200 })
        #expect(try await get(bench, "5-").text == "56789")
        let whole = try await get(bench, nil)
        #expect(whole.text == Self.text && !whole.isHit && bench.sent == 2)
    }

    @Test("a rest isn't the whole, whatever its status says")
    func restWithStatusOfWhole() async throws {
        let bench = bench(status: { $0 == "bytes=5-" ? 200 : 206 })
        _ = try await get(bench, "0-4")
        #expect(try await get(bench, nil).text == Self.text)
        #expect(bench.stub.requests.map { $0.headers["Range"] } == ["bytes=0-4", "bytes=5-", nil])
        #expect(try await get(bench, nil).isHit)
    }

    @Test("a whole that comes encoded in the place of a rest is asked for again, so that it comes decoded")
    func encodedInPlaceOfRest() async throws {
        let bench = CacheBench { request in
            var headers: HTTPHeaders = ["Cache-Control": "max-age=60", "ETag": "\"b\""]
            switch request.headers["Range"] {
            case "bytes=0-4":
                headers["ETag"] = "\"a\""
                headers["Content-Range"] = "bytes 0-4/10"
                return HTTPResponse(status: 206, headers: headers, body: .text("01234"), request: request)
            case nil: return HTTPResponse(status: 200, headers: headers, body: .text("decoded"), request: request)
            default:
                headers["Content-Encoding"] = "gzip"
                return HTTPResponse(status: 200, headers: headers, body: .text("encoded"), request: request)
            }
        }
        _ = try await get(bench, "0-4")
        for isHit in [false, true] {
            let whole = try await get(bench, nil)
            #expect(whole.text == "decoded" && whole.isHit == isHit)
        }
        #expect(bench.stub.requests.map { $0.headers["Range"] } == ["bytes=0-4", "bytes=5-", nil])
    }

    @Test("a rest that mayn't be stored completes the answer, and isn't kept")
    func restNotStored() async throws {
        let bench = CacheBench { request in
            let isRest = request.headers["Range"] == "bytes=5-"
            return HTTPResponse(
                status: 206,
                headers: [
                    "Cache-Control": isRest ? "no-store" : "max-age=60", "ETag": "\"a\"",
                    "Content-Range": isRest ? "bytes 5-9/10" : "bytes 0-4/10",
                ], body: .text(isRest ? "56789" : "01234"), request: request)
        }
        _ = try await get(bench, "0-4")
        for _ in 0..<2 {
            let whole = try await get(bench, nil)
            #expect(whole.status == 200 && whole.text == Self.text && whole.cacheStatus?.isStored == false)
        }
        #expect(try await get(bench, "0-4").isHit && bench.sent == 3)
    }

    @Test("parts don't make an entry larger than one may be")
    func largeInParts() async throws {
        let store = MemoryCacheStore()
        let bench = bench(store: store) { $0.maximumEntryBytes = 6 }
        for (range, isStored) in [("0-3", true), ("4-6", false), ("2-5", true), ("6-6", false)] {
            #expect(try await get(bench, range).cacheStatus?.isStored == isStored, "\(range)")
        }
        #expect(try await get(bench, "0-5").isHit)
        let whole = try await get(bench, nil)
        #expect(whole.text == Self.text && whole.cacheStatus?.isStored == false)
        #expect(await store.entries(for: CacheKey(url: CacheBench.url)).map(\.storedBytes) == [6])
    }

    @Test("a rest that isn't as long as it says is an error", arguments: ["567", "567890"], [false, true])
    func restOfOtherLength(rest: String, isArriving: Bool) async throws {
        let bench = CacheBench { request in
            let isRest = request.headers["Range"] == "bytes=5-"
            let bytes = Array((isRest ? rest : "01234").utf8)
            return HTTPResponse(
                status: 206,
                headers: [
                    "Cache-Control": "max-age=60", "ETag": "\"a\"",
                    "Content-Range": isRest ? "bytes 5-9/10" : "bytes 0-4/10",
                ], body: isArriving ? .incoming(ArrivingBody([bytes])) : .bytes(bytes), request: request)
        }
        _ = try await get(bench, "0-4")
        let response = try await bench.client.stream(HTTPRequest(CacheBench.url))
        let error = await #expect(throws: HTTPError.self) { try await response.body.collect() }
        let code: HTTPError.Code = rest.utf8.count < 5 ? .connectionLost : .protocolViolation
        #expect(error?.code == code && bench.stub.requests.last?.headers["Range"] == "bytes=5-")
    }

    @Test("of a range whose beginning is there only the rest is fetched")
    func extendedRange() async throws {
        let bench = bench()
        _ = try await get(bench, "2-4")
        let part = try await get(bench, "3-7")
        #expect(part.status == 206 && part.text == "34567" && part.headers["Content-Range"] == "bytes 3-7/10")
        #expect(bench.stub.requests.last?.headers["Range"] == "bytes=5-7")
        #expect(try await get(bench, "2-7").isHit)
    }

    @Test("parts from several places are kept together")
    func severalParts() async throws {
        let bench = bench()
        for range in ["0-1", "8-9"] { _ = try await get(bench, range) }
        for (range, text) in [("0-1", "01"), ("8-9", "89")] { #expect(try await get(bench, range).text == text) }
        #expect(bench.sent == 2)
    }

    @Test(
        "parts without a strong validator aren't combined",
        arguments: [
            [:], ["ETag": "W/\"a\""], ["ETag": "W/\"a\"", "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"],
        ] as [HTTPHeaders])
    func weak(headers: HTTPHeaders) async throws {
        let bench = bench(headers)
        _ = try await get(bench, "0-4")
        #expect(try await get(bench, "1-2").isHit)
        #expect(try await get(bench, nil).text == Self.text)
        #expect(bench.stub.requests.last?.headers["Range"] == nil)
    }

    @Test(
        "a part that a later head agrees with isn't combined, if its validator was weak when it came",
        arguments: [false, true], [nil, "\"b\""] as [String?])
    func provenLater(byHead: Bool, tag: String?) async throws {
        let bench = CacheBench { request in
            var headers: HTTPHeaders = ["Cache-Control": "max-age=10"]
            // When the test begins.
            headers["Last-Modified"] = HTTPDate.text(Date(timeIntervalSince1970: 1_700_000_000))
            if request.method == .head || request.headers["If-Modified-Since"] != nil {
                headers["ETag"] = tag
                return HTTPResponse(status: request.method == .head ? 200 : 304, headers: headers, request: request)
            }
            guard request.headers["Range"] == "bytes=0-4" else {
                return HTTPResponse(status: 200, headers: headers, body: .text("abcdefghij"), request: request)
            }
            headers["Content-Range"] = "bytes 0-4/10"
            return HTTPResponse(status: 206, headers: headers, body: .text("01234"), request: request)
        }
        _ = try await get(bench, "0-4")
        bench.clock.advance(100)
        if byHead { _ = try await bench.get { $0.method = .head } } else { _ = try await get(bench, "0-4") }
        #expect(try await get(bench, "0-4").isHit)
        #expect(try await get(bench, nil).text == "abcdefghij")
        #expect(bench.stub.requests.map { $0.headers["Range"] } == ["bytes=0-4", byHead ? nil : "bytes=0-4", nil])
    }

    @Test("what has changed meanwhile is fetched as a whole")
    func changed() async throws {
        let version = Locked("\"a\"")
        let bench = CacheBench { request in
            let tag = version.withLock { $0 }
            let headers: HTTPHeaders = ["Cache-Control": "max-age=60", "ETag": tag]
            if request.headers["Range"] != nil, request.headers["If-Range"] ?? tag == tag {
                var headers = headers
                headers["Content-Range"] = "bytes 0-4/10"
                return HTTPResponse(status: 206, headers: headers, body: .text("01234"), request: request)
            }
            return HTTPResponse(status: 200, headers: headers, body: .text("abcdefghij"), request: request)
        }
        _ = try await get(bench, "0-4")
        version.withLock { $0 = "\"b\"" }
        #expect(try await get(bench, nil).text == "abcdefghij")
        #expect(try await get(bench, "0-1").text == "ab")
    }

    @Test("a part that contradicts itself isn't stored")
    func contradiction() async throws {
        let bench = CacheBench(answers: [
            (206, ["Cache-Control": "max-age=60", "Content-Range": "bytes 4-9/10"], "01234")
        ])
        for _ in 0..<2 { #expect(try await get(bench, "-5").text == "01234") }
        #expect(bench.sent == 2)
    }

    @Test("a part at the end of all numbers that is longer than it says isn't stored", arguments: [[11], [5, 6], [10, 1]])
    func beyondNumbers(chunks: [Int]) async throws {
        let bench = CacheBench { request in
            let body = ArrivingBody(chunks.map { [UInt8](repeating: 1, count: $0) })
            return HTTPResponse(
                status: 206,
                headers: [
                    "Cache-Control": "max-age=60", "ETag": "\"a\"",
                    "Content-Range": "bytes 9223372036854775797-9223372036854775806/9223372036854775807",
                ], body: .incoming(body), request: request)
        }
        let response = try await bench.client.stream(HTTPRequest(CacheBench.url))
        #expect(try await response.body.collect().count == 11)
        #expect(bench.cache.statistics.stored == 0)
    }

    @Test("of a buffered response that is cut off nothing is kept")
    func cutOffWhileBuffered() async throws {
        let bench = CacheBench { request in
            let body = ArrivingBody([Array("0123".utf8)], thenThrowing: HTTPError(.connectionLost))
            return HTTPResponse(
                status: 200, headers: ["Cache-Control": "max-age=60", "Content-Length": "10", "ETag": "\"a\""],
                body: .incoming(body, length: 10), request: request)
        }
        for _ in 0..<2 { await #expect(throws: HTTPError.self) { try await bench.get() } }
        #expect(bench.stub.requests.map { $0.headers["Range"] } == [nil, nil])
        #expect(bench.cache.statistics.stored == 0)
    }

    @Test("what was cut off is kept when the rest can be told to be of it, and thrown away else", arguments: [true, false])
    func cutOff(isStrong: Bool) async throws {
        let store = MemoryCacheStore()
        let isCut = Locked(true)
        let bench = CacheBench(store: store) { request in
            var headers: HTTPHeaders = ["Cache-Control": "max-age=60", "Content-Length": "10"]
            if isStrong { headers["ETag"] = "\"a\"" }
            if request.headers["Range"] == "bytes=4-" {
                headers["Content-Range"] = "bytes 4-9/10"
                headers["Content-Length"] = "6"
                return HTTPResponse(status: 206, headers: headers, body: .text("456789"), request: request)
            }
            let fails = isCut.lower()
            let body = ArrivingBody(
                fails ? [Array("0123".utf8)] : [Array(Self.text.utf8)], thenThrowing: fails ? HTTPError(.connectionLost) : nil)
            return HTTPResponse(status: 200, headers: headers, body: .incoming(body, length: 10), request: request)
        }
        let cut = try await bench.client.stream(HTTPRequest(CacheBench.url))
        await #expect(throws: HTTPError.self) { try await cut.body.collect() }
        await eventually { bench.cache.statistics.stored != 0 || !isStrong }
        #expect(try await bench.get().text == Self.text)
        #expect(bench.stub.requests.last?.headers["Range"] == (isStrong ? "bytes=4-" : nil))
        #expect(try await bench.get().isHit)
    }

    @Test("a body that isn't as long as its head says is no whole entry")
    func wrongLength() async throws {
        let bench = CacheBench(answers: [(200, ["Cache-Control": "max-age=60", "Content-Length": "10"], "0123")])
        for _ in 0..<2 { _ = try await bench.get() }
        #expect(bench.sent == 2)
    }
}
