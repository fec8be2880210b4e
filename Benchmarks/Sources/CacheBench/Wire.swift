import Foundation
import Midstream
import MidstreamDiskCache

/// What a cache costs on the wire: from an nginx server, whose files say nothing about their freshness.
struct Wire {
    let server: String

    /// Gives responses the freshness that a measurement needs, within the cache.
    private struct Freshness: HTTPInterceptor {
        let text: String

        func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
            var response = try await next(request)
            response.headers[.cacheControl] = text
            return response
        }

        var stage: InterceptorStage { .exchange }
    }

    func client(_ cache: CacheInterceptor?, freshness: String = "max-age=600") -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        configuration.recordsTrace = false
        configuration.timeout = nil
        return HTTPClient(configuration: configuration) {
            cache
            Freshness(text: freshness)
        }
    }

    func measure(where isWanted: (String) -> Bool) async throws {
        if isWanted("miss that is stored, on the wire") { try await misses() }
        if isWanted("a thousand at once") { try await uncacheable() }
        if isWanted("a thousand who read") { try await crowd() }
        if isWanted("1 GiB through the disk") { try await disk() }
    }

    /// The processor time of a miss that is stored beside that of a request without a cache, in turns.
    private func misses() async throws {
        var best = [Double.infinity, .infinity]
        for round in 0..<10 {
            let client = client(round % 2 == 0 ? nil : CacheInterceptor())
            let start = Self.processorSeconds()
            for number in 0..<2000 { _ = try await client.send(HTTPRequest(server + "/bench?\(number)")) }
            best[round % 2] = min(best[round % 2], Self.processorSeconds() - start)
        }
        print(
            "miss that is stored, on the wire: \(percent(best[1] / best[0])) of the processor time without a cache",
            "(\(Int(best[1] * 1e6 / 2000)) µs)")
    }

    private func uncacheable() async throws {
        var best = [Double.infinity, .infinity]
        for round in 0..<10 {
            let client = client(round % 2 == 0 ? nil : CacheInterceptor(), freshness: "no-store")
            let start = ContinuousClock.now
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<1000 { group.addTask { [server] in _ = try await client.send(HTTPRequest(server + "/bench")) } }
                try await group.waitForAll()
            }
            best[round % 2] = min(best[round % 2], (ContinuousClock.now - start) / .seconds(1))
        }
        print("a thousand at once for what mayn't be stored: \(percent(best[1] / best[0])) of the time without a cache")
    }

    /// Many who read one long body at the same time.
    private func crowd() async throws {
        let cache = CacheInterceptor()
        let client = client(cache)
        _ = try await client.send(HTTPRequest(server + "/bench"))
        try Self.resetPeak()
        let before = try Self.memory("VmRSS:")
        let start = ContinuousClock.now
        let request = HTTPRequest(server + "/100m")
        let bytes = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<1000 {
                group.addTask {
                    var count = 0
                    for try await chunk in try await client.stream(request).body { count += chunk.count }
                    return count
                }
            }
            return try await group.reduce(into: Set<Int>()) { $0.insert($1) }
        }
        let time = (ContinuousClock.now - start) / .seconds(1)
        print(
            "a thousand who read 100 MiB at once: \(cache.statistics.collapsed) shared it,",
            "\((try Self.memory("VmHWM:") - before) / 1_000_000) MB of memory, \(String(format: "%.1f", time)) s",
            bytes == [100 << 20] ? "" : "WRONG: \(bytes)")
    }

    private func disk() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cache-bench-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        var options = CacheOptions()
        options.maximumEntryBytes = 2 << 30
        var best = [Double.infinity, .infinity, .infinity]
        // What the disk lets anybody have, in the same rounds.
        var curl = [Double.infinity, .infinity]
        for round in 0..<6 {
            curl[round % 2] = min(curl[round % 2], try curlTime(writingTo: round % 2 == 0 ? "/dev/null" : folder.path + ".curl"))
            let store = DiskCacheStore(folder, maximumBytes: 4 << 30)
            let cache = round % 2 == 0 ? nil : CacheInterceptor(store: store, options: options)
            let client = client(cache)
            best[round % 2] = min(best[round % 2], try await read(client))
            guard let cache else { continue }
            best[2] = min(best[2], try await read(client))
            if cache.statistics.hits != 1 { print("NO HIT") }
            await cache.removeAll()
        }
        print(
            "1 GiB through the disk: \(percent(best[0] / best[1])) of the speed without a cache,",
            "which is \(Int(1073.7 / best[0])) MB/s; \(Int(1073.7 / best[2])) MB/s when it is there")
        print("curl that writes it to a file beside it: \(percent(curl[0] / curl[1])) of its speed to /dev/null")
    }

    private func curlTime(writingTo path: String) throws -> Double {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["curl", "--silent", "--fail", "--output", path, server + "/large"]
        let start = ContinuousClock.now
        try process.run()
        process.waitUntilExit()
        let time = (ContinuousClock.now - start) / .seconds(1)
        if path != "/dev/null" { try? FileManager.default.removeItem(atPath: path) }
        guard process.terminationStatus == 0 else { throw CocoaError(.fileReadUnknown) }
        return time
    }

    private func read(_ client: HTTPClient) async throws -> Double {
        let start = ContinuousClock.now
        for try await _ in try await client.stream(HTTPRequest(server + "/large")).body {}
        return (ContinuousClock.now - start) / .seconds(1)
    }

    private func percent(_ share: Double) -> String { "\(Int((share * 100).rounded())) %" }

    static func processorSeconds() -> Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec)
            / 1e6
    }

    private static func resetPeak() throws {
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: "/proc/self/clear_refs"))
        try file.write(contentsOf: Data("5".utf8))
        try file.close()
    }

    private static func memory(_ name: String) throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
        return (line.flatMap { Int($0.split(separator: " ").dropLast().last ?? "") } ?? 0) * 1024
    }
}
