import Foundation
import Interception
import MidstreamCache
import MidstreamCacheStore
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamDiskCache

@Suite("Folders that others have written to", .leavesNothing, .timeLimit(.minutes(10)))
struct DamageTests {
    private let folder = TestFolder()

    @Test("a damaged database is put aside, and a new one begun", arguments: [false, true])
    func garbage(whileOpen: Bool) async throws {
        let store = DiskCacheStore(folder.url)
        let first = client(store) { sized($0) }
        let request = HTTPRequest("http://h.test/1000")
        _ = try await first.send(request)
        // When what is done after the opening has been done.
        _ = try await store.bytes
        let other = DiskCacheStore(folder.url)
        if !whileOpen { try FileManager.default.removeItem(atPath: folder.database + "-wal") }
        try Data([UInt8](repeating: 0x41, count: 100_000)).write(to: URL(fileURLWithPath: folder.database))
        let second = client(other) { sized($0) }
        for _ in 0..<3 { #expect(try await second.send(request).data == Data(bytes(1000))) }
        #expect(try await second.send(request).cacheStatus?.isHit == true)
        // While another has it open all is read from the log, which is in order.
        #expect(whileOpen || FileManager.default.fileExists(atPath: folder.database + ".damaged"))
    }

    @Test("all who share a folder go on with the database that one of them has begun")
    func begunMeanwhile() async throws {
        let (first, second) = (DiskCacheStore(folder.url), DiskCacheStore(folder.url))
        let salt = try await first.salt()
        #expect(try await second.salt() == salt)
        let key = CacheKey(url: "http://h.test/1000")
        _ = try await client(first) { sized($0) }.send(HTTPRequest(key.url))
        #expect(try await second.entries(for: key).count == 1)
        await #expect(throws: DatabaseError.self) {
            try await first.perform { (_) -> Void in throw DatabaseError(code: 11, description: "damaged") }
        }
        // Nobody removes any more what the one that was put aside has.
        #expect((try? await second.entries(for: key))?.isEmpty != false)
        // It is opened once a second at most.
        for store in [first, second] { await eventually { (try? await store.bytes) != nil } }
        let other = try await first.salt()
        #expect(other != salt)
        #expect(try await second.salt() == other)
    }

    @Test("when all is removed, so is what a damaged database held, by whomever", arguments: [false, true])
    func removedWithTheRest(byAnother: Bool) async throws {
        let store = DiskCacheStore(folder.url)
        _ = try await client(store) { sized($0) }.send(HTTPRequest("http://h.test/300000"))
        await #expect(throws: DatabaseError.self) {
            try await store.perform { (_) -> Void in throw DatabaseError(code: 11, description: "damaged") }
        }
        #expect(FileManager.default.fileExists(atPath: folder.database + ".damaged") && folder.bodies.count == 1)
        try await (byAnother ? DiskCacheStore(folder.url) : store).removeAll(origin: nil)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        #expect(!names.contains { $0.hasSuffix(".damaged") } && folder.bodies.isEmpty)
    }

    @Test("what finds the damage when all is removed is the removal itself, which leaves nothing of it")
    func foundByRemoval() async throws {
        try fill()
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: folder.database))
        let size = try file.seekToEnd()
        // What is read when it is opened.
        let sound: UInt64 = 20 * 4096
        try #require(size > 2 * sound)
        try file.seek(toOffset: sound)
        try file.write(contentsOf: [UInt8](repeating: 0x41, count: Int(size - sound)))
        try file.close()
        let store = DiskCacheStore(folder.url)
        try await store.removeAll(origin: nil)
        #expect(try await store.bytes == 0)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        #expect(!names.contains { $0.hasSuffix(".damaged") })
    }

    /// Makes a database that is closed, with all that it holds in one file.
    private func fill() throws {
        let table = try EntryTable(CacheFolder(path: folder.url.path), now: Date())
        for number in 0..<50 {
            let request = HTTPRequest("http://h.test/\(number)")
            let response = HTTPResponse(status: 200, request: request)
            let key = CacheKey(url: "http://h.test/\(number)")
            let entry = CacheEntry(of: response, to: request, key: key, length: 3000).adding(0..<3000)
            let isStored = try table.insert(entry, .bytes(bytes(3000))) { true }
            #expect(isStored)
        }
        try table.database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    @Test("who finds a damage late puts nothing new aside")
    func foundLate() throws {
        let folder = CacheFolder(path: folder.url.path)
        try folder.prepare()
        let damaged = folder.currentDatabase
        folder.putAside(damaged)
        try folder.prepare()
        let new = folder.currentDatabase
        folder.putAside(damaged)
        #expect(new != nil && new != damaged && folder.currentDatabase == new)
    }

    @Test("a folder that somebody has deleted is begun anew by all who share it")
    func deletedFolder() async throws {
        let (first, second) = (DiskCacheStore(folder.url), DiskCacheStore(folder.url))
        let salt = try await first.salt()
        // When what is done after the opening has been done.
        _ = try await first.bytes
        try FileManager.default.removeItem(at: folder.url)
        let other = try await second.salt()
        #expect(other != salt)
        // It is opened once a second at most.
        await eventually { (try? await first.salt()) != nil }
        #expect(try await first.salt() == other)
    }

    @Test("only the cache's own files are put aside, inside its folder")
    func foreignFiles() async throws {
        let request = HTTPRequest("http://h.test/1000")
        do {
            let store = DiskCacheStore(folder.url)
            _ = try await client(store) { sized($0) }.send(request)
            // When what is done after the opening has been done.
            _ = try await store.bytes
        }
        let beside = URL(fileURLWithPath: folder.url.path + ".damaged")
        let foreign = [
            folder.url.appendingPathComponent("notes.txt"), folder.url.appendingPathComponent("bodies/notes.txt"),
            beside.appendingPathComponent("notes.txt"),
        ]
        try FileManager.default.createDirectory(at: beside, withIntermediateDirectories: false)
        for file in foreign {
            try Data("mine".utf8).write(to: file)
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -7200)], ofItemAtPath: file.path)
        }
        for _ in 0..<2 {
            unlink(folder.database + "-wal")
            try Data([UInt8](repeating: 0x41, count: 100_000)).write(to: URL(fileURLWithPath: folder.database))
            let store = DiskCacheStore(folder.url)
            let client = client(store) { sized($0) }
            for _ in 0..<3 { #expect(try await client.send(request).data == Data(bytes(1000))) }
            #expect(try await client.send(request).cacheStatus?.isHit == true)
            _ = try await store.bytes
            #expect(FileManager.default.fileExists(atPath: folder.database + ".damaged"))
            for file in foreign { #expect(try Data(contentsOf: file) == Data("mine".utf8)) }
        }
    }

    @Test(
        "a bit that has turned over is a miss, never a wrong body", arguments: [100, 16 << 10, 70_000, 300_000, 3 << 20],
        [0, 1])
    func turnedBit(size: Int, place: Int) async throws {
        let request = HTTPRequest("http://h.test/\(size)")
        let wrong = size - 1 - place * size / 2
        // Stays, since who opens the database while the last one closes it doesn't wait long for the disk.
        let first = DiskCacheStore(folder.url)
        do {
            let client = client(first) { sized($0) }
            _ = try await client.send(request)
            #expect(try await client.send(request).cacheStatus?.isHit == true)
        }
        if let name = folder.bodies.first {
            let file = try FileHandle(forUpdating: folder.url.appendingPathComponent("bodies/\(name)"))
            try file.seek(toOffset: UInt64(wrong))
            try file.write(contentsOf: [bytes(size)[wrong] ^ 4])
            try file.close()
        } else {
            let database = try Database(path: folder.database)
            var body = bytes(size)
            body[wrong] ^= 4
            try database.run("UPDATE entries SET body = ?", .blob(body))
        }
        let client = client(DiskCacheStore(folder.url)) { sized($0) }
        let mended = try await client.send(request)
        #expect(mended.data == Data(bytes(size)) && mended.cacheStatus?.isHit == false)
        let stored = try await client.send(request)
        #expect(stored.data == Data(bytes(size)) && stored.cacheStatus?.isHit == true)
        withExtendedLifetime(first) {}
    }

    @Test("the body of another entry is a miss")
    func swapped() async throws {
        let urls = ["http://h.test/a/40000", "http://h.test/b/40000"]
        let respond: @Sendable (HTTPRequest) -> HTTPResponse = { request in
            let byte = UInt8(ascii: request.urlText.contains("/a/") ? "a" : "b")
            return HTTPResponse(
                status: 200, headers: ["Cache-Control": "max-age=600"], body: .bytes([UInt8](repeating: byte, count: 40_000)),
                request: request)
        }
        let client = client(DiskCacheStore(folder.url)) { respond($0) }
        for url in urls { _ = try await client.send(HTTPRequest(url)) }
        let files = folder.bodies.map { folder.url.path + "/bodies/" + $0 }
        #expect(files.count == 2)
        rename(files[0], files[0] + "x")
        rename(files[1], files[0])
        rename(files[0] + "x", files[1])
        for url in urls {
            let request = HTTPRequest(url)
            let response = try await client.send(request)
            #expect(response.data == respond(request).data && response.cacheStatus?.isHit == false)
        }
    }

    @Test("entries of another version are emptied, with their files")
    func otherVersion() async throws {
        let request = HTTPRequest("http://h.test/300000")
        // Stays, since who opens the database while the last one closes it doesn't wait long for the disk.
        let first = DiskCacheStore(folder.url)
        _ = try await client(first) { sized($0) }.send(request)
        do {
            let database = try Database(path: folder.database)
            #expect(try database.run("PRAGMA user_version") != [[.integer(0)]])
            try database.execute("DROP TABLE entries; CREATE TABLE entries (other INTEGER); PRAGMA user_version = 77")
        }
        let store = DiskCacheStore(folder.url)
        _ = try await store.salt()
        #expect(folder.bodies.isEmpty)
        let client = client(store) { sized($0) }
        for isHit in [false, true] { #expect(try await client.send(request).cacheStatus?.isHit == isHit) }
        withExtendedLifetime(first) {}
    }

    @Test(
        "rows that nobody here has written neither end nor stop the making of room",
        arguments: [
            "main = 7", "size = \(Int64(1) << 62)", "size = -5", "hits = 'x'", "main = 'x'", "size = 'x'", "hits = \(Int64.max)",
        ])
    func foreignRows(change: String) async throws {
        let store = DiskCacheStore(folder.url, maximumBytes: 30_000)
        let client = client(store) { sized($0) }
        for number in 0..<20 { _ = try await client.send(HTTPRequest("http://h.test/\(number)/3000")) }
        let database = try Database(path: folder.database)
        try database.run("UPDATE entries SET \(change) WHERE place % 3 > 0")
        for _ in 0..<3 { await store.maintainNow() }
        for number in 20..<30 { _ = try await client.send(HTTPRequest("http://h.test/\(number)/3000")) }
        await store.maintainNow()
        #expect(try await store.bytes <= 30_000)
        #expect(try await client.send(HTTPRequest("http://h.test/29/3000")).data == Data(bytes(3000)))
    }

    @Test("room is made some rows at a time, and the database is given back between")
    func smallSteps() async throws {
        let client = client(DiskCacheStore(folder.url)) { sized($0) }
        for number in 0..<1000 { _ = try await client.send(HTTPRequest("http://h.test/\(number)/10")) }
        let store = DiskCacheStore(folder.url, maximumBytes: 0)
        let steps = Locked(0)
        await store.maintainNow { steps.withLock { $0 += 1 } }
        #expect(steps.withLock { $0 } >= 10)
        #expect(try await store.bytes == 0)
    }

    @Test("a body file that was cut short or is gone is a miss, never a wrong body", arguments: [0, 299_999, nil])
    func cutShort(length: Int?) async throws {
        let client = client(DiskCacheStore(folder.url)) { sized($0) }
        let request = HTTPRequest("http://h.test/300000")
        _ = try await client.send(request)
        let path = try #require(folder.bodies.first.map { folder.url.path + "/bodies/" + $0 })
        if let length { truncate(path, off_t(length)) } else { unlink(path) }
        let response = try await client.send(request)
        #expect(response.data == Data(bytes(300_000)) && response.cacheStatus?.isHit == false)
        #expect(try await client.send(request).cacheStatus?.isHit == true)
    }

    @Test("a damaged head is a miss")
    func damagedHead() async throws {
        let store = DiskCacheStore(folder.url)
        let client = client(store) { sized($0) }
        let request = HTTPRequest("http://h.test/10")
        _ = try await client.send(request)
        let database = try Database(path: folder.database)
        try database.run("UPDATE entries SET checksum = checksum + 1")
        #expect(try await client.send(request).cacheStatus?.isHit == false)
        #expect(try await client.send(request).cacheStatus?.isHit == true)
    }
}
