import Foundation
import Measuring
import Midstream
import MidstreamDiskCache

/// Answers at once, so that nothing but the pipeline and the cache is measured.
struct Instant: HTTPTransport {
    let size: Int
    var isStorable = true

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        HTTPResponse(
            status: 200,
            headers: [
                "Cache-Control": isStorable ? "max-age=600" : "no-store", "Content-Type": "application/json", "ETag": "\"abc\"",
                "Date": "Sun, 06 Nov 2033 08:49:37 GMT", "Server": "bench",
            ], body: .bytes([UInt8](repeating: 65, count: size)), request: request)
    }
}

/// Prints the microseconds of one `send()`: the best of some rounds, since others use the machine, too. And, with the address of a server,
/// what a cache costs on the wire. Further arguments say which measurements to make, by the beginnings of their names; all by default.
///
/// `--count NAME TIMES SERVER` makes one kind of request so many times and measures nothing; `--names` says which there are.
@main
struct CacheBench {
    static func main() { runToEnd { try await measure() } }

    private static func measure() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments == ["--names"] { return print(Counted.names.joined(separator: "\n")) }
        if arguments.count == 4, arguments[0] == "--count", let times = Int(arguments[2]) {
            guard let counted = Counted(arguments[1]) else { return print("no such name: \(arguments[1])") }
            return try await counted.run(times: times, server: arguments[3])
        }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cache-bench-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await hits("memory hit, 1 KiB", MemoryCacheStore(), size: 1 << 10)
        try await hits("memory hit, 16 KiB", MemoryCacheStore(), size: 16 << 10)
        try await hits("disk hit, 16 KiB", DiskCacheStore(folder), size: 16 << 10, times: 20_000)
        try await hits("disk hit, 64 KiB in a file", DiskCacheStore(folder), size: 64 << 10, times: 20_000)
        try await misses("miss that is stored", isStorable: true)
        try await misses("miss that isn't stored", isStorable: false)
        try await misses("no cache", isStorable: false, isCached: false)
        if let server = CommandLine.arguments.dropFirst().first { try await Wire(server: server).measure(where: isWanted) }
    }

    private static func isWanted(_ name: String) -> Bool {
        let wanted = CommandLine.arguments.dropFirst(2)
        return wanted.isEmpty || wanted.contains { name.hasPrefix($0) }
    }

    private static func hits(_ name: String, _ store: any CacheStore, size: Int, times: Int = 100_000) async throws {
        guard isWanted(name) else { return }
        let client = client(Instant(size: size), CacheInterceptor(store: store))
        let request = HTTPRequest("https://api.example.com/users/42")
        _ = try await client.send(request)
        guard try await client.send(request).cacheStatus?.isHit == true else { return print("\(name): no hit") }
        try await measure(name, times: times) { _ = try await client.send(request) }
    }

    private static func misses(_ name: String, isStorable: Bool, isCached: Bool = true) async throws {
        guard isWanted(name) else { return }
        let interceptor = isCached ? CacheInterceptor() : nil
        let client = client(Instant(size: 1 << 10, isStorable: isStorable), interceptor)
        var number = 0
        try await measure(name, times: 50_000) {
            number += 1
            _ = try await client.send(HTTPRequest("https://api.example.com/users/\(number)"))
        }
    }

    static func client(_ transport: Instant, _ interceptor: CacheInterceptor?) -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        configuration.recordsTrace = false
        // A real transport keeps the time by itself.
        configuration.timeout = nil
        return HTTPClient(configuration: configuration, transport: transport) { interceptor }
    }

    private static func measure(_ name: String, times: Int, _ work: () async throws -> Void) async throws {
        var best = (time: Duration.seconds(3600), processor: Double.infinity)
        for _ in 0..<5 {
            let (start, processor) = (ContinuousClock.now, Usage.processorSeconds)
            for _ in 0..<times { try await work() }
            best = (min(best.time, ContinuousClock.now - start), min(best.processor, Usage.processorSeconds - processor))
        }
        let figures = [best.time / .microseconds(1), best.processor * 1e6].map { String(format: "%.2f µs", $0 / Double(times)) }
        print("\(name): \(figures[0]), \(figures[1]) of processor time")
    }
}
