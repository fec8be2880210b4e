#if os(Linux)
    import Foundation
    import MidstreamCache
    import MidstreamCacheStore
    import MidstreamCore
    import MidstreamTesting
    import TestSupport
    import Testing

    @testable import MidstreamDiskCache

    /// Processes that share a folder, and die at any point. How often is said by `MIDSTREAM_CACHE_KILLS`; a few times otherwise.
    @Suite("A cache on disk whose processes are killed", .leavesNothing, .serialized, .timeLimit(.minutes(10)))
    struct KillTests {
        private static let folderVariable = "MIDSTREAM_CACHE_WORKER"
        private static var environment: [String: String] { ProcessInfo.processInfo.environment }

        private static func content(_ number: Int) -> [UInt8] {
            (0..<(number * 1777 % 60_000)).map { UInt8(truncatingIfNeeded: ($0 + number) &* 31) }
        }

        private static func client(_ folder: String, maximumBytes: Int64) -> HTTPClient {
            let stub = StubTransport { request in
                HTTPResponse(
                    status: 200, headers: ["Cache-Control": "max-age=600", "ETag": "\"a\""],
                    body: .bytes(content(Int(request.url.lastPathComponent) ?? 0)), request: request)
            }
            let store = DiskCacheStore(URL(fileURLWithPath: folder), maximumBytes: maximumBytes)
            return testClient(transport: stub) { CacheInterceptor(store: store) }
        }

        @Test("works until it is killed", .enabled(if: environment[folderVariable] != nil))
        func worker() async throws {
            let folder = try #require(Self.environment[Self.folderVariable])
            let client = Self.client(folder, maximumBytes: 1 << 20)
            while true {
                let number = Int.random(in: 0..<100)
                let url = "http://h.test/\(number)"
                if Int.random(in: 0..<20) == 0 { _ = try? await client.send(HTTPRequest(.delete, url)) }
                let response = try await client.send(HTTPRequest(url))
                if response.data != Data(Self.content(number)) {
                    try Data(url.utf8).write(to: URL(fileURLWithPath: folder + ".wrong"))
                }
            }
        }

        @Test(
            "no wrong byte is served, and no file is left that belongs to nothing",
            .enabled(if: environment[folderVariable] == nil))
        func kills() async throws {
            let folder = temporaryPath("midstream-kills-\(UUID().uuidString)").path
            defer {
                for suffix in ["", ".wrong"] { try? FileManager.default.removeItem(atPath: folder + suffix) }
            }
            let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            let count = Self.environment["MIDSTREAM_CACHE_KILLS"].flatMap { Int($0) } ?? 4
            try await withThrowingTaskGroup(of: Void.self) { group in
                for process in 0..<4 {
                    group.addTask {
                        for _ in 0..<(count / 4) {
                            let worker = Task {
                                try await ChildProcess.run(
                                    "/usr/bin/env",
                                    [
                                        "\(Self.folderVariable)=\(folder)", program, "--testing-library", "swift-testing",
                                        "--filter",
                                        "KillTests",
                                    ])
                            }
                            // What happens until then is the point, not how long it takes.
                            try await Task.sleep(for: .milliseconds(Int.random(in: 300..<1500) + process))
                            worker.cancel()
                            _ = await worker.result
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(!FileManager.default.fileExists(atPath: folder + ".wrong"))
            #expect(!FileManager.default.fileExists(atPath: folder + "/cache.sqlite.damaged"))
            let client = Self.client(folder, maximumBytes: 1 << 30)
            for number in 0..<100 {
                #expect(try await client.send(HTTPRequest("http://h.test/\(number)")).data == Data(Self.content(number)))
            }
            let bodies = folder + "/bodies"
            for name in try FileManager.default.contentsOfDirectory(atPath: bodies) {
                try FileManager.default.setAttributes(
                    [.modificationDate: Date(timeIntervalSinceNow: -7200)], ofItemAtPath: "\(bodies)/\(name)")
            }
            let store = DiskCacheStore(URL(fileURLWithPath: folder))
            _ = try await store.salt()
            let database = try Database(path: folder + "/cache.sqlite")
            let rows = try database.run("SELECT id FROM entries WHERE body IS NULL").compactMap { $0[0].integer }
            let names = Set(rows.map { String(UInt64(bitPattern: $0), radix: 16) })
            try await eventually { Set(try FileManager.default.contentsOfDirectory(atPath: bodies)).isSubset(of: names) }
            withExtendedLifetime(store) {}
        }
    }
#endif
