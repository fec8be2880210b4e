import Foundation
import Measuring
import Midstream
import MidstreamCore
import MidstreamSigning
import MidstreamStreams

/// Prints how fast bodies in memory are read in lines, events and parts, and hashed: by one task, without a network, in a second of the
/// processor's time, since others use the machine, too.
@main struct StreamBench {
    private static let rounds = 3

    static func main() async throws {
        let size = (CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 256) << 20
        for length in [20, 100, 1_000] {
            let line = Array(String(repeating: "x", count: length - 1).utf8) + [10]
            try await measure("lines of \(length) bytes", line, size, yardstick: makeStrings) { body in
                var count = 0
                for try await text in body.lines() { count += text.utf8.count & 1 }
                return (count, "lines")
            }
        }
        let event = Array("event: price\nid: 12345\ndata: {\"symbol\": \"YHOO\", \"price\": 10.25}\n\n".utf8)
        try await measure("events of \(event.count) bytes", event, size) { body in
            var count = 0
            for try await _ in body.events() { count += 1 }
            return (count, "events")
        }
        try await onMainActor(size / 8)
        try await parts(size)
        for algorithm in [DigestAlgorithm.sha256, .sha512] {
            try await measure("\(algorithm)", Array(repeating: 1, count: 1_000), size) { body in
                (Int(try await body.digest(algorithm)[0]), "")
            }
        }
    }

    /// The same for a reader on the main actor, which no element should make it leave.
    @MainActor private static func onMainActor(_ size: Int) async throws {
        let event = Array("data: {\"id\": 1}\n\n".utf8)
        let row = Array(#"{"id": 1, "amount": 10.25}"#.utf8)
        try await measure("lines, on the main actor", row + [10], size) { @MainActor body in
            var count = 0
            for try await text in body.lines() { count += text.utf8.count & 1 }
            return (count, "lines")
        }
        try await measure(
            "JSON lines, on the main actor", row + [10], size,
            yardstick: { @Sendable in (try? decodeLines($0)) ?? -1 }, named: "a decoder of Foundation's on Data of each"
        ) { @MainActor body in
            var count = 0
            for try await row in body.jsonLines(Row.self) { count += row.id }
            return (count, "values")
        }
        try await array(of: row, size)
        try await measure("events, on the main actor", event, size) { @MainActor body in
            var count = 0
            for try await _ in body.events() { count += 1 }
            return (count, "events")
        }
    }

    private struct Row: Decodable, Sendable { let id: Int }

    /// One array of rows that is in memory, as ``HTTPResponse/decode(_:decoder:)`` and as Foundation's decoder by itself read it.
    @MainActor private static func array(of row: [UInt8], _ size: Int) async throws {
        let bytes = [UInt8(ascii: "[")] + Array(repeatElement(row, count: size / row.count).joined(separator: [44])) + [93]
        let response = HTTPResponse(status: .ok, body: .bytes(bytes), request: HTTPRequest("http://h/"))
        var (ours, theirs) = (Double.infinity, Double.infinity)
        for _ in 0..<rounds {
            let start = Usage.processorSeconds
            let rows = try response.decode([Row].self)
            let between = Usage.processorSeconds
            let others = try bytes.withUnsafeBytes { try JSONDecoder().decode([Row].self, from: Data($0)) }
            (ours, theirs) = (min(ours, between - start), min(theirs, Usage.processorSeconds - between))
            guard rows.count == others.count else { return }
        }
        print(
            "a JSON array of \(bytes.count / 1_000_000) MB: \(Int(Double(bytes.count) / ours / 1e6)) MB/s;",
            "a decoder of Foundation's on Data of it: \(((theirs / ours) * 100).rounded() / 100)× as fast")
    }

    /// How many rows are in bytes that are all there.
    private nonisolated static func decodeLines(_ bytes: UnsafeRawBufferPointer) throws -> Int {
        let decoder = JSONDecoder()
        var count = 0
        for line in bytes.split(separator: 10) { count += try decoder.decode(Row.self, from: Data(line)).id }
        return count
    }

    private static func parts(_ size: Int) async throws {
        // Bytes of all values, so that line ends are among them.
        let content = (0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) }
        let part = Array("--b\r\nContent-Type: image/png\r\n\r\n".utf8) + content + [13, 10]
        try await measure("parts of 1 MiB", part, size, end: Array("--b--\r\n".utf8)) { body in
            let response = HTTPResponse(
                status: .ok, headers: ["Content-Type": "multipart/mixed; boundary=b"], body: body,
                request: HTTPRequest("http://h/"))
            var count = 0
            for try await part in response.parts() {
                for try await chunk in part.body { count += chunk.count & 1 }
            }
            return (count, "")
        }
    }

    /// What can't be saved: looks for the line feeds in bytes that are all there, and makes a text of what is between.
    private static func makeStrings(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard let base = bytes.baseAddress else { return 0 }
        var count = 0
        var start = 0
        while start < bytes.count, let feed = memchr(base + start, 10, bytes.count - start) {
            let end = UnsafeRawPointer(feed) - base
            count += String(decoding: UnsafeRawBufferPointer(rebasing: bytes[start..<end]), as: UTF8.self).utf8.count & 1
            start = end + 1
        }
        return count
    }

    /// Reads a body of a unit that is repeated up to a size, in chunks of 128 KiB.
    ///
    /// - Parameter yardstick: What the time is compared with, given the same bytes, in turn.
    private static func measure(
        _ name: String, _ unit: [UInt8], _ size: Int, end: [UInt8] = [], yardstick: ((UnsafeRawBufferPointer) -> Int)? = nil,
        named yardstickName: String = "a bare loop over the same bytes",
        _ read: @Sendable (HTTPBody) async throws -> (Int, String)
    ) async throws {
        let repetitions = max(1, size / unit.count)
        var block: [UInt8] = []
        while block.count < 16 << 20, block.count + unit.count <= size { block += unit }
        let blocks = max(1, repetitions * unit.count / block.count)
        let chunks = stride(from: 0, to: block.count, by: 128 << 10).map { Array(block[$0..<min($0 + (128 << 10), block.count)]) }
        let body = HTTPBody.stream { Repeated(chunks: chunks, times: blocks, end: end) }
        var best = Double.infinity
        var leastPossible = Double.infinity
        var result = (0, "")
        for _ in 0..<rounds {
            let start = Usage.processorSeconds
            result = try await read(body)
            let end = Usage.processorSeconds
            best = min(best, end - start)
            guard let yardstick else { continue }
            var odd = 0
            for _ in 0..<blocks { odd += block.withUnsafeBytes(yardstick) }
            leastPossible = min(leastPossible, Usage.processorSeconds - end)
            guard odd >= 0 else { return }
        }
        let rate = Double(blocks * block.count) / best / 1e6
        var text = "\(name): \(Int(rate)) MB/s"
        if !result.1.isEmpty { text += ", \(Int(Double(blocks * block.count / unit.count) / best / 1_000))k \(result.1)/s" }
        if yardstick != nil {
            let most = Int(Double(blocks * block.count) / leastPossible / 1e6)
            text += "; \(yardstickName): \(most) MB/s, so \(((leastPossible / best) * 100).rounded() / 100)×"
        }
        print(text)
    }
}

private struct Repeated: AsyncSequence, Sendable {
    let chunks: [[UInt8]]
    let times: Int
    let end: [UInt8]

    struct AsyncIterator: AsyncIteratorProtocol {
        let source: Repeated
        var number = 0

        mutating func next() async throws -> [UInt8]? {
            let total = source.chunks.count * source.times
            defer { number += 1 }
            if number < total { return source.chunks[number % source.chunks.count] }
            return number == total && !source.end.isEmpty ? source.end : nil
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source: self) }
}
