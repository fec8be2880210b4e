import Foundation
import Measuring
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
        for isStreamed in [false, true] {
            let name = isStreamed ? "streamed miss that is stored, on the wire" : "miss that is stored, on the wire"
            if isWanted(name) { try await misses(name, isStreamed: isStreamed) }
        }
        if isWanted("a thousand at once") { try await uncacheable() }
        if isWanted("a thousand who read") { try await crowd() }
        if isWanted("1 GiB through the disk") { try await disk() }
        if isWanted("beside hishel") { try await Peer(wire: self).measure() }
    }

    /// A miss that is stored beside a request without a cache.
    private func misses(_ name: String, isStreamed: Bool) async throws {
        let cost = try await Comparison(rounds: 9) { isCached in
            try await send(2000, client(isCached ? CacheInterceptor() : nil), isStreamed: isStreamed)
        }
        print("\(name): \(cost), \(Int(cost.processorSeconds * 1e6 / 2000)) µs")
    }

    /// Sends requests for different URLs, one after the other.
    func send(_ count: Int, from first: Int = 0, _ client: HTTPClient, isStreamed: Bool = false) async throws {
        for number in first..<(first + count) {
            let request = HTTPRequest(server + "/bench?\(number)")
            if isStreamed {
                for try await _ in try await client.stream(request).body {}
            } else {
                _ = try await client.send(request)
            }
        }
    }

    private func uncacheable() async throws {
        let cost = try await Comparison(rounds: 25) { isCached in
            try await uncacheable(1000, isCached ? CacheInterceptor() : nil)
        }
        print("a thousand at once for what mayn't be stored: \(cost)")
    }

    /// Asks many times at once for what mayn't be stored.
    func uncacheable(_ count: Int, _ cache: CacheInterceptor?) async throws {
        let client = client(cache, freshness: "no-store")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<count { group.addTask { [server] in _ = try await client.send(HTTPRequest(server + "/bench")) } }
            try await group.waitForAll()
        }
    }

    /// Many who read one long body at the same time.
    private func crowd() async throws {
        let cache = CacheInterceptor()
        let client = client(cache)
        _ = try await client.send(HTTPRequest(server + "/bench"))
        ResidentMemory.forgetPeak()
        let before = ResidentMemory.now
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
            "\((ResidentMemory.peak - before) / 1_000_000) MB of memory, \(String(format: "%.1f", time)) s",
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

    private func percent(_ share: Double) -> String { Comparison.percent(share) }
}
