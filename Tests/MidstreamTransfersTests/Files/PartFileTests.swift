import Foundation
import Interception
import Midstream
import MidstreamTesting
import MidstreamPlatform
import TestSupport
import Testing

@testable import MidstreamTransfers

#if os(Linux)
    import LibraryInterposition
#endif

@Suite("What a download may replace", .leavesNothing, .timeLimit(.minutes(10)))
struct PartFileTests {
    private static let content = FileServer.content(100_000)
    private let server: FileServer
    private let folder: TemporaryFolder

    init() throws {
        server = try FileServer(Self.content)
        folder = try TemporaryFolder()
    }

    private func download(to file: URL, resumes: Int = 5) async throws {
        try await server.client().download(HTTPRequest(server.url), to: file, options: .init(resumes: resumes))
    }

    private func kind(_ file: URL) -> FileAttributeType? {
        try? FileManager.default.attributesOfItem(atPath: file.path)[.type] as? FileAttributeType
    }

    @Test("Neither pipes nor links nor devices, before anything is sent")
    func others() async throws {
        let (pipe, link) = (folder.url.appendingPathComponent("pipe"), folder.url.appendingPathComponent("link"))
        let device = folder.url.appendingPathComponent("device")
        #expect(mkfifo(pipe.path, 0o600) == 0)
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder.target)
        var files = [(pipe, FileAttributeType.typeUnknown), (link, .typeSymbolicLink)]
        // Root alone may make one; the numbers are those of /dev/null on Linux.
        if mknod(device.path, S_IFCHR | 0o600, 0x103) == 0 { files.append((device, .typeCharacterSpecial)) }
        for (file, type) in files {
            let error = await httpError { try await download(to: file) }
            #expect(error?.code == .fileUnwritable && error?.phase == .notSent)
            #expect(kind(file) == type)
        }
        #expect(server.requests.isEmpty && folder.names.count == files.count)
    }

    #if os(Linux)
        @Test("A new file has the permissions of new files, also when there is no descriptor left at the end")
        func withoutDescriptors() async {
            await #expect(processExitsWith: .success) {
                let folder = try TemporaryFolder()
                let other = open(folder.url.appendingPathComponent("other").path, O_WRONLY | O_CREAT, 0o666)
                let file = try PartFile(replacing: folder.target)
                try file.write([1], at: 0)
                var (limit, none) = (rlimit(), rlimit())
                getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                none.rlim_max = limit.rlim_max
                setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none)
                try file.complete(isSynchronized: false)
                setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                var (expected, found) = (stat(), stat())
                #expect(fstat(other, &expected) == 0 && stat(folder.target.path, &found) == 0)
                #expect(found.st_mode == expected.st_mode)
            }
        }
    #endif

    @Test("… also when they come while it is loaded")
    func meanwhile() async throws {
        let folder = folder
        server.next({ _ in
            try? FileManager.default.createSymbolicLink(at: folder.target, withDestinationURL: folder.url)
        })
        #expect(await httpError { try await download(to: folder.target) }?.code == .fileUnwritable)
        #expect(kind(folder.target) == .typeSymbolicLink)
    }

    @Test("A record is gone when the bytes are that it is of")
    func cleared() throws {
        let part = try PartFile(replacing: folder.target)
        try part.write([1, 2, 3], at: 0)
        try part.write(PartRecord(url: "https://h/film", validator: .eTag("\"1\""), total: 10))
        #expect(part.readRecord() != nil)
        try part.clear()
        #expect(part.size == 0 && part.readRecord() == nil)
    }

    @Test("A record that promises more than is there is none")
    func promise() {
        var record = PartRecord(url: "https://h/film", validator: .eTag("\"1\""), total: 100)
        #expect(record.ranges(in: 100) != nil && record.ranges(in: 101) == nil)
        record.done = [[0, 20], [40, 60]]
        #expect(record.ranges(in: 60)?.count == 40 && record.ranges(in: 59) == nil)
        for done in [[[0, 101]], [[-1, 5]], [[5, 4]], [[5]]] as [[[Int64]]] {
            record.done = done
            #expect(record.ranges(in: 200) == nil)
        }
    }

    @Test("A record isn't read through a link")
    func linkedRecord() throws {
        let part = try PartFile(replacing: folder.target)
        try part.write(PartRecord(url: "https://h/film", validator: .eTag("\"1\""), total: 10))
        let record = try #require(folder.names.first { $0.hasSuffix(".json") })
        let (place, other) = (folder.url.appendingPathComponent(record), folder.url.appendingPathComponent("other"))
        try FileManager.default.moveItem(at: place, to: other)
        try FileManager.default.createSymbolicLink(at: place, withDestinationURL: other)
        #expect(part.readRecord() == nil)
    }

    @Test("… also when none of its bytes had come, and the next version can't be told from others")
    func replaced() async throws {
        let folder = folder
        let names = Locked<[String]>([])
        let client = server.client {
            ClosureResponseInterceptor { response in
                response.body = response.body.mapChunks { chunk in
                    names.withLock { $0 = folder.names }
                    return chunk
                }
            }
        }
        server.cut(0)
        server.next({ _ in }, { $0.headers[.etag] = nil })
        try await client.download(HTTPRequest(server.url), to: folder.target)
        #expect(names.withLock { $0 } == [".target.bin.midstream-part"])
        #expect(server.requests.count == 2 && folder.content == Self.content)
    }

    @Test("What came stays, although its record can't be written again, as on a disk that is full")
    func unwritableRecord() async throws {
        let folder = folder
        let obstacle = folder.record.appendingPathExtension("new")
        let client = server.client {
            ClosureResponseInterceptor { response in
                response.body = response.body.mapChunks { chunk in
                    try? FileManager.default.createDirectory(at: obstacle, withIntermediateDirectories: true)
                    return chunk
                }
            }
        }
        server.cut(70_000)
        let error = await httpError {
            try await client.download(HTTPRequest(server.url), to: folder.target, options: .init(resumes: 0))
        }
        #expect(error?.code == .connectionLost)
        try FileManager.default.removeItem(at: obstacle)
        try await download(to: folder.target)
        #expect(server.requests.map { $0.headers[.range] } == [nil, "bytes=70000-"])
        #expect(folder.content == Self.content && folder.names == ["target.bin"])
    }

    @Test("A part that somebody else has begun after the own one was removed stays, with its record")
    func removed() throws {
        let part = try PartFile(replacing: folder.target)
        try part.write([1, 2, 3], at: 0)
        try FileManager.default.removeItem(at: folder.part)
        let other = try PartFile(replacing: folder.target)
        let record = PartRecord(url: "https://h/film", validator: .eTag("\"1\""), total: 10)
        try other.write([9], at: 0)
        try other.write(record)
        let steps: [() throws -> Void] = [
            { try part.complete(isSynchronized: false) }, { try part.write(nil) }, { try part.clear() },
        ]
        for step in steps {
            let error = #expect(throws: HTTPError.self) { try step() }
            #expect(error?.code == .fileUnwritable)
        }
        part.discard()
        #expect(folder.content == nil && other.readRecord() == record)
        try other.complete(isSynchronized: false)
        #expect(folder.content == [9])
    }

    #if os(Linux)
        @Test("On a disk without locks a download begins, goes on within the call, and arrives whole")
        func withoutLocks() async throws {
            let file = folder.url.appendingPathComponent(PATH_WITHOUT_LOCKS)
            server.cut(70_000, nil, 70_000)
            try await download(to: file)
            #expect(try Data(contentsOf: file).elementsEqual(Self.content) && folder.names == [PATH_WITHOUT_LOCKS])
            // What another call has left may still be written to.
            #expect(await httpError { try await download(to: file, resumes: 0) }?.code == .connectionLost)
            try await download(to: file)
            #expect(server.requests.map { $0.headers[.range] } == [nil, "bytes=70000-", nil, nil])
            #expect(try Data(contentsOf: file).elementsEqual(Self.content) && folder.names == [PATH_WITHOUT_LOCKS])
        }

        @Test("… and of two downloads to one file the newer one writes it")
        func twoWithoutLocks() throws {
            let file = folder.url.appendingPathComponent(PATH_WITHOUT_LOCKS)
            let older = try PartFile(replacing: file)
            try older.write([1, 2, 3], at: 0)
            try older.write(PartRecord(url: "https://h/film", validator: .eTag("\"1\""), total: 10))
            let newer = try PartFile(replacing: file)
            #expect(newer.size == 0 && newer.readRecord() == nil)
            try newer.write([9], at: 0)
            try older.write([4], at: 3)
            let error = #expect(throws: HTTPError.self) { try older.complete(isSynchronized: false) }
            #expect(error?.code == .fileUnwritable)
            older.discard()
            try newer.complete(isSynchronized: false)
            #expect(try Data(contentsOf: file) == Data([9]) && folder.names == [PATH_WITHOUT_LOCKS])
        }
    #endif

    @Test("Records that are written at once don't get into each other's way")
    func records() async throws {
        let part = try PartFile(replacing: folder.target)
        let record = PartRecord(url: "https://h/film", validator: .eTag("\"1\""), total: 10)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<200 { try part.write(record) } }
            }
            try await group.waitForAll()
        }
        #expect(part.readRecord() == record)
    }

    @Test("The mode of a replaced file is kept", arguments: [0o600, 0o640, 0o755])
    func mode(mode: Int) async throws {
        try Data("old".utf8).write(to: folder.target)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder.target.path)
        try await download(to: folder.target)
        #expect(folder.content == Self.content)
        #expect(try FileManager.default.attributesOfItem(atPath: folder.target.path)[.posixPermissions] as? Int == mode)
    }

    @Test(
        "Names of any length that a file may have, and each has a part of its own",
        arguments: [230, 231, 255].flatMap { [String(repeating: "a", count: $0), String(repeating: "ä", count: $0 / 2)] })
    func names(name: String) async throws {
        let file = folder.url.appendingPathComponent(name)
        let other = folder.url.appendingPathComponent(name.dropLast() + "b")
        server.cut(40_000, 30_000)
        #expect(await httpError { try await download(to: file, resumes: 0) }?.code == .connectionLost)
        #expect(await httpError { try await download(to: other, resumes: 0) }?.code == .connectionLost)
        try await download(to: file)
        try await download(to: other)
        #expect(server.requests.map { $0.headers[.range] } == [nil, nil, "bytes=40000-", "bytes=30000-"])
        for file in [file, other] { #expect(try Data(contentsOf: file).elementsEqual(Self.content)) }
        #expect(folder.names.count == 2)
    }
}
