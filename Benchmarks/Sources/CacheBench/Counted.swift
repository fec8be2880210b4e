import Foundation
import Midstream
import MidstreamDiskCache

/// One kind of request, made as often as somebody says: what callgrind counts the instructions of.
struct Counted {
    /// What stores the responses.
    enum Store: String, CaseIterable {
        case none = "no cache"
        case memory
        case disk
    }

    /// What the requests are.
    enum Kind: String, CaseIterable {
        /// To a transport that answers at once.
        case hit
        case miss
        /// To the server.
        case wire = "wire miss"
        case streamed = "streamed wire miss"
        /// All at once for one URL, whose answer mayn't be stored.
        case crowd = "one of a crowd"
    }

    let kind: Kind
    let store: Store

    /// By its name, such as `wire miss, memory`.
    init?(_ name: String) {
        let parts = name.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        guard parts.count == 2, let kind = Kind(rawValue: parts[0]), let store = Store(rawValue: parts[1]) else { return nil }
        (self.kind, self.store) = (kind, store)
    }

    static var names: [String] {
        Kind.allCases.flatMap { kind in Store.allCases.map { "\(kind.rawValue), \($0.rawValue)" } }
    }

    func run(times: Int, server: String) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cache-bench-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let cache: CacheInterceptor? =
            switch store {
            case .none: nil
            case .memory: CacheInterceptor()
            case .disk: CacheInterceptor(store: DiskCacheStore(folder))
            }
        let wire = Wire(server: server)
        switch kind {
        case .crowd: return try await wire.uncacheable(times, cache)
        case .wire, .streamed: try await wire.send(times, wire.client(cache), isStreamed: kind == .streamed)
        case .hit, .miss:
            let client = CacheBench.client(Instant(size: 1 << 10, isStorable: true), cache)
            let url = "https://api.example.com/users"
            for number in 0..<times {
                // As it is: an interpolation would be encoded.
                _ = try await client.send(HTTPRequest(kind == .hit ? url : url + "?" + String(number)))
            }
        }
        if let cache { check(cache.statistics, times) }
    }

    private func check(_ statistics: CacheStatistics, _ times: Int) {
        let expected = kind == .hit ? (statistics.hits, times - 1) : (statistics.stored, times)
        if expected.0 != expected.1 { print("\(expected.0) instead of \(expected.1): \(statistics)") }
    }
}
