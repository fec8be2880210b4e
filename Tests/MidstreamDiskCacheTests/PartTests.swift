import Foundation
import Interception
import MidstreamCache
import MidstreamCacheStore
import MidstreamCore
import MidstreamDiskCache
import TestSupport
import Testing

@Suite("Parts on disk", .leavesNothing, .timeLimit(.minutes(10)))
struct PartTests {
    private let folder = TestFolder()

    @Test(
        "of a small body are cut out of it",
        arguments: [("0-9", 0..<10), ("5-", 5..<100), ("-1", 99..<100), ("0-99", 0..<100)])
    func smallPart(range: String, wanted: Range<Int>) async throws {
        let client = client(DiskCacheStore(folder.url)) { sized($0) }
        _ = try await client.send(HTTPRequest("http://h.test/100"))
        let response = try await client.send(HTTPRequest("http://h.test/100", headers: ["Range": "bytes=\(range)"]))
        #expect(response.status == 206 && response.cacheStatus?.isHit == true)
        #expect(response.data == Data(bytes(100)[wanted]))
    }

    @Test("are completed in their file")
    func parts() async throws {
        let all = bytes(100_000)
        let count = Locked(0)
        let client = client(DiskCacheStore(folder.url), count) { request in
            var headers: HTTPHeaders = ["Cache-Control": "max-age=600", "ETag": "\"a\""]
            guard let range = request.headers["Range"] else {
                return HTTPResponse(status: 200, headers: headers, body: .bytes(all), request: request)
            }
            let bounds = range.dropFirst(6).split(separator: "-").compactMap { Int($0) }
            let last = bounds.count > 1 ? bounds[1] : all.count - 1
            headers["Content-Range"] = "bytes \(bounds[0])-\(last)/\(all.count)"
            return HTTPResponse(status: 206, headers: headers, body: .bytes(Array(all[bounds[0]...last])), request: request)
        }
        let url = "http://h.test/x"
        _ = try await client.send(HTTPRequest(url, headers: ["Range": "bytes=0-49999"]))
        let part = try await client.send(HTTPRequest(url, headers: ["Range": "bytes=100-199"]))
        #expect(part.cacheStatus?.isHit == true && part.data == Data(all[100..<200]))
        #expect(try await client.send(HTTPRequest(url)).data == Data(all))
        let whole = try await client.send(HTTPRequest(url))
        #expect(whole.cacheStatus?.isHit == true && whole.data == Data(all))
        #expect(count.withLock { $0 } == 2)
    }

    @Test("stay completed when somebody updates the head who has looked the entry up before")
    func completedMeanwhile() async throws {
        let store = DiskCacheStore(folder.url)
        let request = HTTPRequest("http://h.test/x")
        let key = CacheKey(url: "http://h.test/x")
        var old = CacheEntry(of: HTTPResponse(status: 200, request: request), to: request, key: key, length: 100_000)
        for range in [0..<50_000, 50_000..<100_000] {
            let looked = try await store.entries(for: key).first ?? old
            let writer = try await store.writer(for: looked, at: Int64(range.lowerBound))
            try await writer.write(Array(bytes(100_000)[range]))
            let isStored = try await writer.commit(looked.adding(Int64(range.lowerBound)..<Int64(range.upperBound))) { true }
            #expect(isStored)
            old = looked
        }
        #expect(!old.isWhole)
        #expect(try await store.update(old))
        let entry = try #require(await store.entries(for: key).first)
        #expect(entry.isWhole)
        #expect(try await store.body(of: entry, range: nil).collect() == bytes(100_000))
    }

    @Test("leave what another answer has said of the entry meanwhile", arguments: [true, false], [true, false])
    func saidMeanwhile(isWrong: Bool, isInMemory: Bool) async throws {
        let store: any CacheStore = isInMemory ? MemoryCacheStore() : DiskCacheStore(folder.url)
        let request = HTTPRequest("http://h.test/x")
        let key = CacheKey(url: "http://h.test/x")
        let now = Date()
        func entry(asked seconds: Double) -> CacheEntry {
            let response = HTTPResponse(status: 200, headers: ["Asked": "\(seconds)"], request: request)
            return CacheEntry(of: response, to: request, key: key, length: 150_000, at: now + seconds)
        }
        let first = entry(asked: -30)
        let beginning = try await store.writer(for: first, at: 0)
        try await beginning.write(Array(bytes(150_000)[..<50_000]))
        var areStored = [try await beginning.commit(first.adding(0..<50_000)) { true }]
        let looked = try #require(await store.entries(for: key).first)
        let more = looked.with(entry(asked: -20).head)
        // Two bring what each of them misses, and a third learns something while they do.
        let middle = try await store.writer(for: more, at: 50_000)
        try await middle.write(Array(bytes(150_000)[50_000..<100_000]))
        let end = try await store.writer(for: more, at: 100_000)
        try await end.write(Array(bytes(150_000)[100_000...]))
        #expect(try await store.update(looked.with(isWrong ? looked.head.invalidated : entry(asked: -10).head)))
        areStored.append(try await middle.commit(more.adding(50_000..<100_000)) { true })
        areStored.append(try await end.commit(more.adding(100_000..<150_000)) { true })
        #expect(areStored == [true, true, true])
        let stored = try #require(await store.entries(for: key).first)
        #expect(stored.head.isInvalidated == isWrong && stored.head.fields["Asked"] == (isWrong ? "-30.0" : "-10.0"))
        #expect(stored.isWhole)
        #expect(try await store.body(of: stored, range: nil).collect() == bytes(150_000))
    }

    @Test("that are fetched anew leave the whole as it is")
    func partOfWhole() async throws {
        let count = Locked(0)
        let client = client(DiskCacheStore(folder.url), count) { request in
            var headers: HTTPHeaders = ["Cache-Control": "max-age=600", "ETag": "\"a\""]
            guard request.headers["Range"] != nil else {
                return HTTPResponse(status: 200, headers: headers, body: .bytes(bytes(100)), request: request)
            }
            headers["Content-Range"] = "bytes 0-9/100"
            return HTTPResponse(status: 206, headers: headers, body: .bytes(bytes(10)), request: request)
        }
        let whole = HTTPRequest("http://h.test/x")
        var part = HTTPRequest("http://h.test/x", headers: ["Range": "bytes=0-9"])
        part.cache = .reload
        _ = try await client.send(whole)
        #expect(try await client.send(part).status == 206)
        let stored = try await client.send(whole)
        #expect(stored.cacheStatus?.isHit == true && stored.data == Data(bytes(100)))
        #expect(count.withLock { $0 } == 2)
    }
}
