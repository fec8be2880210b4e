import Foundation
import Measuring
import Midstream
import MidstreamTesting

/// Prints how fast a file of an nginx server is downloaded, whose address is the argument, and what several connections gain where each is
/// slow.
@main struct TransferBench {
    static func main() async throws {
        guard let server = CommandLine.arguments.dropFirst().first else { return print("transfer-bench URL") }
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("transfer-bench-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try await large(server + "/large", file)
        try await slow(file)
    }

    /// 1 GiB beside curl, in turns, since others use the machine, too, and how fast the disk is changes.
    private static func large(_ url: String, _ file: URL) async throws {
        let client = HTTPClient()
        var own: [Double] = []
        var curl: [Double] = []
        for _ in 0..<9 {
            own.append(try await seconds { try await client.download(HTTPRequest(url), to: file) })
            try FileManager.default.removeItem(at: file)
            curl.append(
                try await seconds {
                    let curl = Process()
                    curl.executableURL = URL(fileURLWithPath: "/usr/bin/env")
                    curl.arguments = ["curl", "-so", file.path, url]
                    try curl.run()
                    curl.waitUntilExit()
                })
            try FileManager.default.removeItem(at: file)
        }
        let ratios = zip(own, curl).map { $1 / $0 }.sorted()
        print(
            "1 GiB to a file: \(Int(1073.7 / own.median)) MB/s, \(percent(ratios[4])) of the speed of curl",
            "(\(Int(1073.7 / curl.median)) MB/s); medians of nine turns, whose ratios are",
            "\(percent(ratios[0])) to \(percent(ratios[8]))")
    }

    private static func percent(_ ratio: Double) -> String { "\(Int((ratio * 100).rounded())) %" }

    /// 20 MB/s and 20 ms to the answer, for each connection.
    private static func slow(_ file: URL) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        let content = [UInt8](repeating: 1, count: 60_000_000)
        server.respond { request in
            var response = MockServer.Response(
                headers: ["Accept-Ranges": "bytes", "ETag": "\"1\""], body: .bytes(content),
                fault: .throttle(bytesPerSecond: 20_000_000), delay: .milliseconds(20))
            guard let range = request.headers["Range"] else { return response }
            let bounds = range.dropFirst("bytes=".count).split(separator: "-").compactMap { Int($0) }
            guard let first = bounds.first, first < content.count else { return .init(status: 416) }
            let last = bounds.count > 1 ? min(bounds[1], content.count - 1) : content.count - 1
            response.status = 206
            response.headers["Content-Range"] = "bytes \(first)-\(last)/\(content.count)"
            response.body = .bytes(content[first...last])
            return response
        }
        let client = HTTPClient()
        let url = server.url("/film")
        var times: [Double] = []
        for parallel in [1, 4] {
            times.append(
                try await seconds {
                    try await client.download(HTTPRequest(url), to: file, options: DownloadOptions(parallel: parallel))
                })
            try FileManager.default.removeItem(at: file)
        }
        print("20 MB/s and 20 ms a connection: four are \(String(format: "%.1f", times[0] / times[1])) times as fast as one")
    }

    private static func seconds(_ work: () async throws -> Void) async throws -> Double {
        let start = ContinuousClock.now
        try await work()
        return (ContinuousClock.now - start) / .seconds(1)
    }
}
