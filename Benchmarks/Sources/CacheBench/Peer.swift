import Foundation
import Measuring
import Midstream
import MidstreamDiskCache

/// The same requests by hishel, the cache of Python's httpx, against the same server.
struct Peer {
    let wire: Wire

    private enum Failure: Error { case peer(status: Int32) }

    func measure() async throws {
        // Set by `Scripts/bench cache`.
        guard let python = ProcessInfo.processInfo.environment["MIDSTREAM_HISHEL_PYTHON"] else { return }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cache-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let figures = try peer(python, folder)
        guard figures.count == 5 else { throw Failure.peer(status: 0) }
        let (memory, disk) = (MemoryCacheStore(), DiskCacheStore(folder.appendingPathComponent("midstream")))
        print(beside("hits from memory", try await hits(memory), figures[0]))
        print(beside("hits from disk", try await hits(disk), figures[1]))
        for (place, name) in ["memory", "disk"].enumerated() {
            // Nothing is asked for twice, since what is on disk stays there.
            var first = 0
            let cost = try await Comparison(rounds: 7) { isCached in
                let store: any CacheStore = place == 0 ? memory : disk
                try await wire.send(1000, from: first, wire.client(isCached ? CacheInterceptor(store: store) : nil))
                first += 1000
            }
            print(
                "a miss that is stored in \(name), in processor time: \(Int(cost.processorSeconds * 1e3)) µs,",
                "\(times(cost.processorFactor)) that without a cache; hishel's \(Int(figures[2 + place] * figures[4])) µs,",
                "\(times(figures[2 + place])) httpx's")
        }
    }

    private func peer(_ python: String, _ folder: URL) throws -> [Double] {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: python)
        process.arguments = ["Benchmarks/Runner/hishel_bench.py", wire.server + "/bench", folder.path]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure.peer(status: process.terminationStatus) }
        return text.split(separator: "\n").compactMap { Double($0) }
    }

    /// How many hits there are in a second.
    private func hits(_ store: any CacheStore) async throws -> Double {
        let client = wire.client(CacheInterceptor(store: store))
        let request = HTTPRequest(wire.server + "/bench")
        _ = try await client.send(request)
        var figures: [Double] = []
        for _ in 0..<7 {
            let start = ContinuousClock.now
            for _ in 0..<10_000 { _ = try await client.send(request) }
            figures.append(10_000 / ((ContinuousClock.now - start) / .seconds(1)))
        }
        return figures.median
    }

    private func beside(_ name: String, _ own: Double, _ peer: Double) -> String {
        "\(name): \(Int(own)) a second, \(times(own / peer)) the \(Int(peer)) of hishel"
    }

    private func times(_ factor: Double) -> String { String(format: factor < 10 ? "%.2f×" : "%.0f×", factor) }
}
