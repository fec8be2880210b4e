import Foundation
import TestSupport
import Testing

/// The parsers of what others send, without libFuzzer: the inputs of `Tests/Fuzz/Corpus`, and what random changes make of them.
@Suite("Parsers of foreign text", .timeLimit(.minutes(60))) struct ForeignTextTests {
    /// Of all parsers together.
    private static let wholeSearch = 10_000_000
    private static let longestInput = 4_096
    /// Bytes that mean something to one parser or another.
    private static let telling = Array("\r\n\0 \t,;:=\"'%\\/?#@[]{}<>&-+*.09aZ\u{FF}".utf8)

    @Test("take any input", arguments: ForeignParser.allCases) func anyInput(parser: ForeignParser) async throws {
        let seeds = try Self.corpus(of: parser)
        // Some block until tasks have ended, for which a thread of the tasks mustn't be taken.
        await withCheckedContinuation { continuation in
            let thread = Thread {
                search(parser, from: seeds)
                continuation.resume()
            }
            thread.stackSize = 8 << 20
            thread.start()
        }
    }

    private func search(_ parser: ForeignParser, from seeds: [[UInt8]]) {
        for seed in seeds { read(seed, parser) }
        var random = Search.numbers(ForeignParser.allCases.firstIndex(of: parser) ?? 0)
        for _ in 0..<Search.count(of: Self.wholeSearch / ForeignParser.allCases.count) {
            var input = seeds.randomElement(using: &random) ?? []
            for _ in 0...Int.random(in: 0..<4, using: &random) { change(&input, seeds, &random) }
            read(Array(input.prefix(Self.longestInput)), parser)
        }
    }

    private func read(_ input: [UInt8], _ parser: ForeignParser) {
        parser.read(input)
        parser.check(input)
    }

    private func change(_ input: inout [UInt8], _ seeds: [[UInt8]], _ random: inout SeededGenerator) {
        let place = Int.random(in: 0...input.count, using: &random)
        let end = Int.random(in: place...min(input.count, place + 16), using: &random)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: input.replaceSubrange(place..<end, with: [])
        case 1: input.replaceSubrange(place..<end, with: Self.telling.randomElement(using: &random).map { [$0] } ?? [])
        case 2: input.insert(UInt8.random(in: 0...255, using: &random), at: place)
        case 3: input.insert(contentsOf: input[place..<end], at: place)
        case 4: if place < input.count { input[place] ^= 1 << UInt8.random(in: 0..<8, using: &random) }
        default: input.replaceSubrange(place..., with: seeds.randomElement(using: &random)?.dropFirst(place) ?? [])
        }
    }

    private static func corpus(of parser: ForeignParser) throws -> [[UInt8]] {
        let corpus = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Fuzz/Corpus/\(parser.rawValue)")
        let names = try FileManager.default.contentsOfDirectory(atPath: corpus.path).sorted()
        return try names.map { Array(try Data(contentsOf: corpus.appendingPathComponent($0))) }
    }
}
