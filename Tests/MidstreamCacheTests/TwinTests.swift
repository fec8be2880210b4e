import Foundation
import Interception
import MidstreamCacheStore
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamCache

@Suite("A cache over a store that answers at once, and over one that doesn't", .leavesNothing, .timeLimit(.minutes(10)))
struct TwinTests {
    /// What happens next, the same to both.
    private struct Step: Sendable {
        var path: Int
        var method: HTTPMethod = .get
        var headers: HTTPHeaders = [:]
        var use = CacheUse.standard
        var seconds: Double = 0
        /// What the server does: 0 breaks the connection, 1 answers 503, 2 sends the body in pieces, others nothing special.
        var mood = 9
        /// Whether what the path stands for changes before.
        var changes = false

        init(_ random: inout some RandomNumberGenerator) {
            path = Int.random(in: 0..<24, using: &random)
            if let seconds = [0.0, 0, 0, 1, 3, 8, 30].randomElement(using: &random) { self.seconds = seconds }
            mood = Int.random(in: 0..<20, using: &random)
            changes = Int.random(in: 0..<12, using: &random) == 0
            switch Int.random(in: 0..<40, using: &random) {
            case 0: method = .post
            case 1: method = .put
            case 2, 3: method = .head
            default: break
            }
            if let name = ["", "", "", "en", "de"].randomElement(using: &random), name != "" {
                headers[.acceptLanguage] = .init(name)
            }
            if Int.random(in: 0..<6, using: &random) == 0 { headers[.authorization] = "Bearer \(path % 3)" }
            let fields: [(HTTPHeaders.Name, HTTPHeaders.Value)] = [
                (.range, "bytes=0-4"), (.range, "bytes=3-"), (.range, "bytes=-3"), (.range, "bytes=90-"),
                (.range, "bytes=1-2,4-5"),
                (.cacheControl, "no-cache"), (.cacheControl, "max-stale=10"), (.cacheControl, "min-fresh=3"),
                (.cacheControl, "max-age=2"),
                (.cacheControl, "only-if-cached"), (.cacheControl, "no-store"), (.cacheControl, "stale-if-error=60"),
                (.ifNoneMatch, "\"0\""), (.ifNoneMatch, "\"1\""), (.ifModifiedSince, "Tue, 14 Nov 2023 22:13:20 GMT"),
            ]
            if Int.random(in: 0..<3, using: &random) == 0, let field = fields.randomElement(using: &random) {
                headers[field.0] = field.1
            }
            if Int.random(in: 0..<15, using: &random) == 0,
                let use = [CacheUse.reload, .noStore, .onlyIfCached, .ignoringFreshness].randomElement(using: &random)
            {
                self.use = use
            }
        }
    }

    /// A server with 24 paths, each of which wants something else of caches.
    private final class Server: Sendable {
        private let state = Locked<(versions: [Int: Int], mood: Int)>(([:], 9))

        func prepare(_ step: Step) {
            state.withLock { state in
                state.mood = step.mood
                if step.changes { state.versions[step.path, default: 0] += 1 }
            }
        }

        private static let controls: [HTTPHeaders.Value] = [
            "max-age=10", "max-age=5, stale-while-revalidate=20", "max-age=5, stale-if-error=60", "no-cache", "no-store",
            "max-age=100, must-revalidate", "max-age=20, immutable", "private, max-age=15",
        ]

        func respond(_ request: HTTPRequest) throws -> HTTPResponse {
            let (versions, mood) = state.withLock { $0 }
            let path = Int(request.urlText.split(separator: "/").last ?? "") ?? 0
            let version = versions[path, default: 0]
            if mood == 0 { throw HTTPError(.connection, phase: .notSent) }
            if mood == 1 { return HTTPResponse(status: 503, request: request) }
            var headers: HTTPHeaders = ["Cache-Control": Self.controls[path % 8]]
            let isTagged = path % 3 != 2
            let tag = path % 3 == 0 ? "\"\(version)\"" : "W/\"\(version)\""
            if isTagged { headers["ETag"] = .init(tag) }
            if path % 5 == 0 { headers["Vary"] = "Accept-Language" }
            if isTagged, request.headers["If-None-Match"]?.contains(tag) == true {
                return HTTPResponse(status: 304, headers: headers, request: request)
            }
            let bytes = Array("path \(path) version \(version) \(request.headers["Accept-Language"] ?? "")".utf8)
            guard let range = RangeRequest(request.headers.values(.range))?.resolved(length: Int64(bytes.count)), path % 3 == 0,
                request.headers["If-Range"].map({ $0 == tag }) ?? true, !range.isEmpty
            else {
                headers["Content-Length"] = "\(bytes.count)"
                return HTTPResponse(status: 200, headers: headers, body: body(bytes, mood), request: request)
            }
            headers["Content-Range"] = .init(ContentRange.text(range, of: Int64(bytes.count)))
            headers["Content-Length"] = "\(range.count)"
            let part = Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)])
            return HTTPResponse(status: 206, headers: headers, body: body(part, mood), request: request)
        }

        private func body(_ bytes: [UInt8], _ mood: Int) -> HTTPBody {
            guard mood == 2 else { return .bytes(bytes) }
            return .incoming(ArrivingBody([Array(bytes.prefix(2)), Array(bytes.dropFirst(2))]))
        }
    }

    private struct Twin: Sendable {
        let server = Server()
        let bench: CacheBench

        init(_ mode: CacheMode, _ store: any CacheStore) {
            bench = CacheBench(mode, store: store) { [server] request in try server.respond(request) }
        }

        /// What the trace says but for times, which are real.
        private static func notes(_ trace: Trace) -> String {
            "\(trace)".split(separator: "\n").filter { $0.contains("·") }.joined(separator: "\n")
        }

        /// What comes of a step, with all that a caller could see.
        func take(_ step: Step) async -> String {
            bench.clock.advance(step.seconds)
            server.prepare(step)
            let url = "http://twin.test/\(step.path)"
            var text: String
            do {
                let response = try await bench.get(url, step.headers) { request in
                    request.method = step.method
                    request.cache = step.use
                }
                // A validation behind the answer ends before the next step.
                await eventually { bench.cache.cache.validating.withLock { $0.isEmpty } }
                text = "\(response.status) \(response.text) \(response.cacheStatus.map { "\($0)" } ?? "-")\n"
                text += response.headers.map { "\($0.name): \($0.value)" }.joined(separator: "\n")
                text += "\n" + response.trace.events(named: "cache.outcome").map(\.text).joined(separator: "\n")
                text += "\n" + Self.notes(response.trace)
            } catch {
                text = "\((error as? HTTPError)?.code as Any)"
            }
            return text + "\n\(bench.sent) \(bench.cache.statistics)"
        }
    }

    @Test("answer, note and count the same", arguments: [CacheMode.private, .shared])
    func same(mode: CacheMode) async throws {
        // So few bytes that some entries have to make room.
        let (bare, base) = (MemoryCacheStore(maximumBytes: 12_000), MemoryCacheStore(maximumBytes: 12_000))
        let (first, second) = (Twin(mode, bare), Twin(mode, DecoratedStore(base: base)))
        var random = SeededGenerator(seed: mode == .private ? 1 : 2)
        for number in 0..<4_000 {
            let step = Step(&random)
            let (one, other) = (await first.take(step), await second.take(step))
            try #require(one == other, "step \(number): \(step)")
        }
        #expect(bare.bytes == base.bytes && bare.count == base.count)
        let statistics = first.bench.cache.statistics
        for count in [statistics.hits, statistics.misses, statistics.validations, statistics.stale, statistics.stored] {
            #expect(count > 20)
        }
    }
}
