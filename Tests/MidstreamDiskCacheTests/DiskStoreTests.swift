import Dispatch
import Foundation
import Interception
import MidstreamCache
import MidstreamCacheStore
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamDiskCache

@Suite("Entries on disk", .leavesNothing, .timeLimit(.minutes(10)))
struct DiskStoreTests {
    private let folder = TestFolder()

    @Test("outlive the process, small ones and large ones", arguments: [0, 10, 16 << 10, (16 << 10) + 1, 300_000])
    func persistence(size: Int) async throws {
        let count = Locked(0)
        var request = HTTPRequest("http://h.test/\(size)")
        for round in 0..<3 {
            // Each is a store of its own, as in a new process. The one before may still be closing the database.
            let client = client(DiskCacheStore(folder.url), count) { sized($0) }
            await eventually { (try? await client.send(request))?.cacheStatus?.isHit == (round > 0) }
            #expect(try await client.send(request).data == Data(bytes(size)))
            request.cache = .onlyIfCached
        }
        #expect(count.withLock { $0 } == 1)
        #expect(folder.bodies.count == (size > 16 << 10 ? 1 : 0))
    }

    @Test("that stand for several URLs aren't brought back by a rule that is learned after a removal")
    func removedBeforeTheRule() async throws {
        let count = Locked(0)
        let respond = { @Sendable (request: HTTPRequest) in
            HTTPResponse(
                status: 200, headers: ["Cache-Control": "max-age=600", "No-Vary-Search": "params=(\"utm\")"], body: .text("x"),
                request: request)
        }
        let clients = (0..<2).map { _ in client(DiskCacheStore(folder.url), count, respond) }
        _ = try await clients[0].send(HTTPRequest("http://h.test/a?x=1&utm=1"))
        _ = try await clients[1].send(HTTPRequest(.put, "http://h.test/a?x=1"))
        var hits: [Bool?] = []
        for query in ["x=2", "x=1", "x=1&utm=2"] {
            hits.append(try await clients[1].send(HTTPRequest(RequestURL("http://h.test/a?" + query))).cacheStatus?.isHit)
        }
        #expect(hits == [false, false, true])
        #expect(count.withLock { $0 } == 4)
    }

    @Test("stay readable when they are forgotten while somebody reads")
    func evictedWhileRead() async throws {
        let store = DiskCacheStore(folder.url)
        let client = client(store) { sized($0) }
        let request = HTTPRequest("http://h.test/300000")
        _ = try await client.send(request)
        let response = try await client.stream(request)
        try await store.removeAll(origin: nil)
        #expect(folder.bodies.isEmpty)
        #expect(try await response.body.collect() == bytes(300_000))
    }

    @Test("are files that are removed after the database has been asked, by whoever removes many")
    func filesOfMany() async throws {
        let store = DiskCacheStore(folder.url)
        _ = try await client(store) { sized($0) }.send(HTTPRequest("http://h.test/300000"))
        let bodies = try await store.perform { try $0.removeAll(origin: "http://h.test") }
        #expect(bodies.map { String($0, radix: 16) } == folder.bodies && bodies.count == 1)
    }

    @Test("hold no token, no owner and no URL of a request")
    func secrecy() async throws {
        let client = client(DiskCacheStore(folder.url)) { request in
            var response = sized(request)
            response.headers["Vary"] = "Authorization, X-API-Key"
            return response
        }
        for user in ["alice-token", "bob-token"] {
            let request = HTTPRequest(
                "http://h.test/300?api_key=url-secret", headers: ["Authorization": user, "X-API-Key": "key-secret"])
            #expect(try await client.send(request).cacheStatus?.isHit == false)
            #expect(try await client.send(request).cacheStatus?.isHit == true)
        }
        let contents = folder.contents
        for secret in ["alice-token", "bob-token", "url-secret", "key-secret", "h.test"] {
            #expect(contents.range(of: Data(secret.utf8)) == nil, "\(secret)")
        }
        let mode = try FileManager.default.attributesOfItem(atPath: folder.database)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(try FileManager.default.attributesOfItem(atPath: folder.url.path)[.posixPermissions] as? Int == 0o700)
    }

    /// A signer whose user is known beforehand.
    private struct Signature: HTTPInterceptor {
        var stage: InterceptorStage { .exchange }
        func identity(of request: HTTPRequest) -> RequestIdentity { .user("identity-secret") }

        func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
            var request = request
            request.headers[.authorization] = "signature-secret"
            return try await next(request)
        }
    }

    @Test("hold nothing of whose a request is that is signed further in")
    func secrecyOfIdentities() async throws {
        let client = testClient(transport: StubTransport { sized($0) }) {
            CacheInterceptor(store: DiskCacheStore(folder.url))
            Signature()
        }
        for isHit in [false, true] {
            #expect(try await client.send(HTTPRequest("http://h.test/300")).cacheStatus?.isHit == isHit)
        }
        let contents = folder.contents
        for secret in ["identity-secret", "signature-secret"] {
            #expect(contents.range(of: Data(secret.utf8)) == nil, "\(secret)")
        }
    }

    /// What may be in the place of a file.
    enum Intruder: CaseIterable {
        case fifo, folder

        func take(_ path: String) throws {
            unlink(path)
            switch self {
            case .fifo: try #require(mkfifo(path, 0o600) == 0)
            case .folder: try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            }
        }
    }

    @Test("what is no file in the place of a body is a miss", arguments: Intruder.allCases)
    func bodyIsNoFile(_ intruder: Intruder) async throws {
        let client = client(DiskCacheStore(folder.url)) { sized($0) }
        let request = HTTPRequest("http://h.test/300000")
        _ = try await client.send(request)
        try intruder.take(#require(folder.bodies.first.map { folder.url.path + "/bodies/" + $0 }))
        let response = try await client.send(request)
        #expect(response.data == Data(bytes(300_000)) && response.cacheStatus?.isHit == false)
        #expect(try await client.send(request).cacheStatus?.isHit == true)
    }

    @Test(
        "what is no file in the place of the database or what belongs to it is a miss",
        arguments: ["", "-wal", "-shm", "-journal"], Intruder.allCases)
    func databaseIsNoFile(suffix: String, _ intruder: Intruder) async throws {
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        try intruder.take(folder.database + suffix)
        let client = client(DiskCacheStore(folder.url)) { sized($0) }
        let request = HTTPRequest("http://h.test/300000")
        for _ in 0..<2 { #expect(try await client.send(request).data == Data(bytes(300_000))) }
    }

    @Test("a folder that can't be made is misses and notes")
    func unusable() async throws {
        let file = folder.url.path
        _ = FileManager.default.createFile(atPath: file, contents: Data())
        let client = client(DiskCacheStore(URL(fileURLWithPath: file + "/cache"))) { sized($0) }
        for _ in 0..<2 {
            let response = try await client.send(HTTPRequest("http://h.test/10"))
            #expect(response.data.count == 10 && response.trace.description.contains("the cache's store failed"))
        }
    }

    /// On a file system of a few MiB, or one that is read only: `mount -t tmpfs -o size=4m none FOLDER`.
    @Test("a disk that is full or can't be written is misses and notes", .enabled(if: smallFolder != nil))
    func fullDisk() async throws {
        let folder = URL(fileURLWithPath: try #require(smallFolder)).appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let count = Locked(0)
        let client = client(DiskCacheStore(folder), count) { sized($0) }
        var failures = 0
        for size in Array(stride(from: 1000, to: 400_000, by: 9001)) + [1000, 200_000, 399_000] {
            let response = try await client.send(HTTPRequest("http://h.test/\(size)"))
            #expect(response.data == Data(bytes(size)))
            if response.trace.description.contains("the cache's store failed") { failures += 1 }
        }
        #expect(failures > 0)
        for size in [1000, 200_000, 399_000] {
            #expect(try await client.send(HTTPRequest("http://h.test/\(size)")).data == Data(bytes(size)))
        }
    }

    #if os(Linux)
        /// In a process of its own, since others need descriptors.
        @Test("stay when there is no descriptor to read them with")
        func descriptors() async throws {
            let path = folder.url.path
            _ = try await client(DiskCacheStore(folder.url)) { sized($0) }.send(HTTPRequest("http://h.test/300000"))
            await #expect(processExitsWith: .success) { [path = path as String] in
                let store = DiskCacheStore(URL(fileURLWithPath: path))
                let entries = try await store.entries(for: CacheKey(url: "http://h.test/300000"))
                let entry = try #require(entries.first)
                var limit = rlimit()
                getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                let allowed = limit.rlim_cur
                limit.rlim_cur = 0
                setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                await #expect(throws: FileError.self) { _ = try await store.body(of: entry, range: nil) }
                limit.rlim_cur = allowed
                setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                #expect(try await store.body(of: entry, range: nil).collect() == bytes(300_000))
            }
        }
    #endif

    @Test("another's lock is a miss")
    func locked() async throws {
        let client = client(DiskCacheStore(folder.url)) { sized($0) }
        _ = try await client.send(HTTPRequest("http://h.test/10"))
        let database = try Database(path: folder.database)
        try database.run("BEGIN EXCLUSIVE")
        #expect(try await client.send(HTTPRequest("http://h.test/20")).data.count == 20)
        try database.run("COMMIT")
        #expect(try await client.send(HTTPRequest("http://h.test/20")).cacheStatus?.isHit == false)
        #expect(try await client.send(HTTPRequest("http://h.test/20")).cacheStatus?.isHit == true)
    }

    @Test("hits come while another writes, and while many ask at once")
    func readers() async throws {
        let client = client(DiskCacheStore(folder.url)) { sized($0) }
        for size in [10, 300_000] { _ = try await client.send(HTTPRequest("http://h.test/\(size)")) }
        let database = try Database(path: folder.database)
        try database.run("BEGIN IMMEDIATE")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                group.addTask {
                    let size = number % 2 == 0 ? 10 : 300_000
                    let response = try await client.send(HTTPRequest("http://h.test/\(size)"))
                    #expect(response.data == Data(bytes(size)) && response.cacheStatus?.isHit == true)
                }
            }
            try await group.waitForAll()
        }
        try database.run("COMMIT")
    }

    @Test("another's lock is waited for once by all who are queued meanwhile")
    func queuedWhileLocked() async throws {
        let store = DiskCacheStore(folder.url)
        _ = try await store.salt()
        // What was queued when it was opened has run by then.
        await store.maintainNow()
        let database = try Database(path: folder.database)
        try database.run("BEGIN IMMEDIATE")
        let (allAreQueued, patience) = (DispatchSemaphore(value: 0), Locked<[Int64?]>([]))
        let answers = (0..<40).map { number in
            store.queued { table in
                if number == 0 { allAreQueued.wait() }
                // Of the same text it would be compiled once, with what holds at that moment.
                let milliseconds = try table.database.run("PRAGMA busy_timeout -- \(number)").first?[0].integer
                patience.withLock { $0.append(milliseconds) }
                try table.database.run("BEGIN IMMEDIATE")
            }
        }
        allAreQueued.signal()
        for answer in answers { await #expect(throws: DatabaseError.self) { try await answer.value().get() } }
        let expected: [Int64?] = [250] + Array(repeating: 0, count: 39)
        #expect(patience.withLock { $0 } == expected)
        try database.run("COMMIT")
    }

    @Test("of several variants each is answered with its own body")
    func variants() async throws {
        let count = Locked(0)
        let client = client(DiskCacheStore(folder.url), count) { request in
            HTTPResponse(
                status: 200, headers: ["Cache-Control": "max-age=600", "Vary": "Foo"], body: .text(request.headers["Foo"] ?? ""),
                request: request)
        }
        for _ in 0..<2 {
            for name in ["one", "two", "three"] {
                let response = try await client.send(HTTPRequest("http://h.test/", headers: ["Foo": name]))
                #expect(response.data == Data(name.utf8))
            }
        }
        #expect(count.withLock { $0 } == 3)
    }

    @Test("never stays above what it may hold, and keeps what is asked for")
    func eviction() async throws {
        let store = DiskCacheStore(folder.url, maximumBytes: 200_000)
        let client = client(store) { sized($0) }
        for number in 0..<60 {
            _ = try await client.send(HTTPRequest("http://h.test/\(number)/\(number % 2 == 0 ? 3000 : 20_000)"))
            _ = try await client.send(HTTPRequest("http://h.test/0/3000"))
            await store.maintainNow()
            #expect(try await store.bytes <= 200_000)
        }
        #expect(try await client.send(HTTPRequest("http://h.test/0/3000")).cacheStatus?.isHit == true)
        #expect(folder.bodies.count < 11)
    }

    @Test("don't exceed what may be held for long where no process lasts until it would make room")
    func shortProcesses() async throws {
        for number in 0..<20 {
            let client = client(DiskCacheStore(folder.url, maximumBytes: 100_000)) { sized($0) }
            let request = HTTPRequest("http://h.test/\(number)/20000")
            // The store before may still be closing the database.
            await eventually { (try? await client.send(request))?.cacheStatus?.isHit == true }
        }
        let store = DiskCacheStore(folder.url, maximumBytes: 100_000)
        await eventually { (try? await store.bytes).map { $0 <= 100_000 } ?? false }
    }

    @Test("hits alone don't have all that is stored looked through each time")
    func hitsAlone() async throws {
        let store = DiskCacheStore(folder.url, maximumBytes: 0)
        await store.maintainNow()
        // As a process that may store more does it.
        _ = try await client(DiskCacheStore(folder.url)) { sized($0) }.send(HTTPRequest("http://h.test/10"))
        await store.maintainNow(afterWrite: false)
        #expect(try await store.bytes > 0)
        await store.maintainNow()
        #expect(try await store.bytes == 0)
    }

    @Test("of a key are listed the newest first, though an older one has stayed since it was asked for")
    func order() async throws {
        let store = DiskCacheStore(folder.url, maximumBytes: 5_000)
        func put(_ url: String, _ size: Int, _ fields: HTTPHeaders = [:]) async throws -> CacheEntry {
            let request = HTTPRequest("http://h.test/")
            let response = HTTPResponse(status: 200, headers: fields, request: request)
            let entry = CacheEntry(of: response, to: request, key: CacheKey(url: url), length: Int64(size))
            let writer = try await store.writer(for: entry, at: 0)
            try await writer.write(bytes(size))
            let isStored = try await writer.commit(entry.adding(0..<Int64(size))) { true }
            #expect(isStored)
            return entry
        }
        let old = try await put("http://h.test/a", 100)
        _ = try await store.body(of: old, range: nil)
        let other = try await put("http://h.test/b", 10_000)
        let new = try await put("http://h.test/a", 100, ["Vary": "Foo"])
        await store.maintainNow()
        #expect(try await store.entries(for: other.key).isEmpty)
        #expect(try await store.entries(for: new.key).map(\.id) == [new.id, old.id])
    }

    @Test("files that belong to nothing are swept after an hour, and nobody waits for that")
    func sweep() async throws {
        let first = DiskCacheStore(folder.url)
        _ = try await client(first) { sized($0) }.send(HTTPRequest("http://h.test/300000"))
        await first.maintainNow()
        let kept = try #require(folder.bodies.first)
        for (name, age) in [("3.part", 60.0), (kept, 7200)] + (100..<350).map({ ("\($0).part", 7200.0) }) {
            let path = folder.url.path + "/bodies/" + name
            if name != kept { _ = FileManager.default.createFile(atPath: path, contents: Data([1])) }
            try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSinceNow: -age)], ofItemAtPath: path)
        }
        let store = DiskCacheStore(folder.url)
        // Right after it was opened.
        let count = try await store.perform { [folder] _ in folder.bodies.count }
        #expect(count == 252)
        await eventually { Set(folder.bodies) == ["3.part", kept] }
        withExtendedLifetime(store) {}
    }

    @Test("two stores on one folder see what the other stores")
    func twoStores() async throws {
        let count = Locked(0)
        let clients = (0..<2).map { _ in client(DiskCacheStore(folder.url), count) { sized($0) } }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                group.addTask {
                    let size = 100 + number % 10 * 5000
                    let response = try await clients[number % 2].send(HTTPRequest("http://h.test/\(size)"))
                    #expect(response.data == Data(bytes(size)))
                }
            }
            try await group.waitForAll()
        }
        // Who has to wait for the other's lock or for the disk for too long doesn't store, and finds nothing: that is no error.
        var request = HTTPRequest("http://h.test/7")
        await eventually { (try? await clients[0].send(request))?.cacheStatus?.isHit == true }
        // The other can't store it itself.
        request.cache = .onlyIfCached
        await eventually { (try? await clients[1].send(request))?.cacheStatus?.isHit == true }
    }

    @Test("the log stays small, though another store that does nothing has tidied it up before")
    func log() async throws {
        let (idle, busy) = (DiskCacheStore(folder.url), DiskCacheStore(folder.url))
        _ = try await client(idle) { sized($0) }.send(HTTPRequest("http://h.test/10"))
        await idle.maintainNow()
        let worker = client(busy) { sized($0) }
        for number in 0..<1000 {
            _ = try await worker.send(HTTPRequest("http://h.test/\(number)/10000"))
            if number % 50 == 0 { await busy.maintainNow() }
        }
        let log = try #require(FileManager.default.contents(atPath: folder.database + "-wal"))
        #expect(log.count < 8 << 20)
        #expect(try await idle.bytes > 8 << 20)
    }

    @Test("a log that has grown is emptied, and so are file and log when all is removed")
    func emptied() async throws {
        let store = DiskCacheStore(folder.url)
        let database = folder.database
        let size: @Sendable (String) -> Int = { name in
            let attributes = try? FileManager.default.attributesOfItem(atPath: database + name)
            return (attributes?[.size] as? NSNumber)?.intValue ?? 0
        }
        // While nothing else can look after it.
        let log = try await store.perform { table in
            for number in 0..<2_500 {
                let url = "http://h.test/\(number)"
                let request = HTTPRequest(RequestURL(url))
                let entry = CacheEntry(
                    of: HTTPResponse(status: 200, request: request), to: request, key: CacheKey(url: url), length: 10_000)
                _ = try table.insert(entry.adding(0..<10_000), .bytes(bytes(10_000))) { true }
            }
            return size("-wal")
        }
        #expect(log > 16 << 20)
        await store.maintainNow()
        #expect(size("-wal") < 8 << 20 && size("") > 16 << 20)
        try await store.removeAll(origin: nil)
        #expect(size("") + size("-wal") < 200_000)
    }

    @Test("the log is taken over into the database after validations alone, too")
    func logOfValidations() async throws {
        // By another store, which has planned to look after it.
        _ = try await client(DiskCacheStore(folder.url)) { sized($0) }.send(HTTPRequest("http://h.test/10"))
        let store = DiskCacheStore(folder.url)
        let entry = try #require(await store.entries(for: CacheKey(url: "http://h.test/10")).first)
        #expect(try await store.update(validated(entry, mark: "validated")))
        await eventually {
            FileManager.default.contents(atPath: folder.database)?.firstRange(of: Data("validated".utf8)) != nil
        }
    }

    /// The entry after a validation that has brought one field more.
    private func validated(_ entry: CacheEntry, mark: String) -> CacheEntry {
        let old = entry.head
        var fields = old.fields
        fields.add("X-Mark", mark)
        return entry.with(
            StoredHead(
                status: old.status, fields: fields, requestTime: old.requestTime, responseTime: old.responseTime,
                receivedAge: old.receivedAge, selecting: old.selecting))
    }

    @Test("count what a validation adds to their heads, and make room for it")
    func grownByValidations() async throws {
        let store = DiskCacheStore(folder.url, maximumBytes: 200_000)
        let client = client(store) { sized($0) }
        let urls = (0..<4).map { "http://h.test/\($0)/10" }
        for url in urls { _ = try await client.send(HTTPRequest(url)) }
        await store.maintainNow()
        for url in urls {
            let entry = try #require(await store.entries(for: CacheKey(url: url)).first)
            #expect(try await store.update(validated(entry, mark: String(repeating: "x", count: 100_000))))
            await store.maintainNow(afterWrite: false)
            let bytes = try await store.bytes
            #expect(bytes > 100_000 && bytes <= 200_000)
        }
    }

    @Test("a lookup that is cancelled doesn't wait for the disk, and what is written does")
    func cancelled() async throws {
        let store = DiskCacheStore(folder.url)
        let (isBusy, goOn) = (Gate(), DispatchSemaphore(value: 0))
        let work = Task {
            try await store.perform { _ in
                isBusy.open()
                goOn.wait()
            }
        }
        await isBusy.wait()
        let key = CacheKey(url: "http://h.test/10")
        let (lookup, removal) = (Task { try await store.entries(for: key) }, Task { try await store.remove(key) })
        lookup.cancel()
        removal.cancel()
        await #expect(throws: CancellationError.self) { try await lookup.value }
        goOn.signal()
        try await work.value
        try await removal.value
    }

    @Test("two levels: what is in memory is answered from there, and what isn't from disk")
    func tiers() async throws {
        let memory = MemoryCacheStore()
        let count = Locked(0)
        let store = TieredStore(memory, DiskCacheStore(folder.url))
        let first = client(store, count) { sized($0) }
        for size in [100, 300_000] {
            for _ in 0..<2 { #expect(try await first.send(HTTPRequest("http://h.test/\(size)")).data.count == size) }
        }
        #expect(count.withLock { $0 } == 2 && memory.count == 2)
        let second = MemoryCacheStore()
        let later = client(TieredStore(second, DiskCacheStore(folder.url)), count) { sized($0) }
        for _ in 0..<2 { #expect(try await later.send(HTTPRequest("http://h.test/100")).cacheStatus?.isHit == true) }
        #expect(second.count == 1 && count.withLock { $0 } == 2)
        _ = try await later.send(HTTPRequest(.put, "http://h.test/100"))
        #expect(try await later.send(HTTPRequest("http://h.test/100")).cacheStatus?.isHit == false)
    }
}

/// Where a test may fill the disk.
private var smallFolder: String? { ProcessInfo.processInfo.environment["MIDSTREAM_SMALL_FOLDER"] }
