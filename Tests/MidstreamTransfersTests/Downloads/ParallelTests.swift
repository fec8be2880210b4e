import Foundation
import Interception
import Midstream
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamTransfers

@Suite("Downloads over several connections", .leavesNothing, .timeLimit(.minutes(10)))
struct ParallelTests {
    private static let content = FileServer.blocks(320)
    private let server: FileServer
    private let folder: TemporaryFolder

    init() throws {
        server = try FileServer(Self.content)
        folder = try TemporaryFolder()
    }

    private var ranges: [String?] { server.requests.map { $0.headers[.range] } }

    @Test("Pieces are fetched side by side, each of the same version")
    func pieces() async throws {
        // All are slow, so that there is something left for those that come late.
        for _ in 0..<4 { server.next({ $0.fault = .throttle(bytesPerSecond: 2 << 20) }) }
        let response = try await server.client().download(HTTPRequest(server.url), to: folder.target, options: .init(parallel: 4))
        #expect(folder.content == Self.content)
        #expect(folder.names == ["target.bin"])
        #expect(ranges.count >= 4 && ranges[0] == nil && ranges.dropFirst().allSatisfy { $0 != nil })
        #expect(server.requests.dropFirst().allSatisfy { $0.headers[.ifRange] == "\"1\"" })
        #expect(Set(server.requests.map(\.connection)).count >= 4)
        #expect(response.trace.description.contains("fetches over 4 connections"))
    }

    @Test("There are 64 connections at most, however many may be used")
    func most() async throws {
        let options = DownloadOptions(parallel: 1_000)
        let response = try await server.client().download(HTTPRequest(server.url), to: folder.target, options: options)
        #expect(folder.content == Self.content)
        #expect(response.trace.description.contains("fetches over 64 connections"))
    }

    @Test("One connection is enough for what is short, or where ranges aren't offered")
    func single() async throws {
        try await server.client().download(HTTPRequest(server.url), to: folder.target)
        server.change { $0.headers[.acceptRanges] = "none" }
        try await server.client().download(HTTPRequest(server.url), to: folder.target, options: .init(parallel: 4))
        server.replace(Self.content, eTag: nil)
        try await server.client().download(HTTPRequest(server.url), to: folder.target, options: .init(parallel: 4))
        server.replace(Array(Self.content.prefix(16 << 20 - 1)), eTag: "\"2\"")
        try await server.client().download(HTTPRequest(server.url), to: folder.target, options: .init(parallel: 4))
        #expect(ranges == [nil, nil, nil, nil])
    }

    @Test("A piece that stands still is taken over by who has nothing to do")
    func stalled() async throws {
        let stall: @Sendable (inout MockServer.Response) -> Void = { $0.fault = .stall(.insideBody(afterBytes: 100_000)) }
        server.next({ $0.fault = .throttle(bytesPerSecond: 16 << 20) }, stall, { _ in }, stall)
        // The patience is measured in real time, since it is about what really arrives.
        let response = try await server.client().download(HTTPRequest(server.url), to: folder.target, options: .init(parallel: 4))
        #expect(folder.content == Self.content)
        #expect(response.trace.description.contains("takes over from"))
    }

    @Test("A piece that breaks off is asked for again by itself")
    func broken() async throws {
        let cut: @Sendable (inout MockServer.Response) -> Void = { $0.fault = .disconnect(.insideBody(afterBytes: 100_000)) }
        server.next({ $0.fault = .throttle(bytesPerSecond: 16 << 20) }, cut, cut, { $0 = .init(status: 503) }, cut)
        try await server.client().download(HTTPRequest(server.url), to: folder.target, options: .init(parallel: 3))
        #expect(folder.content == Self.content)
    }

    @Test("A connection that is refused isn't missed while another brings bytes")
    func refused() async throws {
        server.next({ $0.fault = .throttle(bytesPerSecond: 8 << 20) })
        let client = server.client { ConcurrencyLimit(.fixed(1)) }
        try await client.download(HTTPRequest(server.url), to: folder.target, options: .init(parallel: 4))
        #expect(folder.content == Self.content)
    }

    @Test("What breaks off over all connections at once counts once, and the call goes on no more often than it may")
    func resumes() async throws {
        for _ in 0..<50 { server.cut(100_000) }
        let error = await httpError {
            try await server.client().download(
                HTTPRequest(server.url), to: folder.target, options: .init(parallel: 4, resumes: 1))
        }
        #expect(error?.code == .connectionLost)
        #expect(error?.trace?.events(named: "transfer.interruption").isEmpty == true)
        #expect((2...8).contains(server.requests.count))
    }

    @Test("An outage uses up what a call goes on by the waits of all connections together, not by those of each")
    func outage() async throws {
        let (clock, draws) = (TestClock(), Locked(0))
        let stub = StubTransport { request in
            var (response, range) = Self.answer(to: request, of: 320 << 16)
            response.body = .stream(length: Int64(range.count)) {
                AsyncThrowingStream<[UInt8], any Error> { continuation in
                    continuation.yield([UInt8](repeating: 0, count: 1_000))
                    continuation.finish(throwing: HTTPError(.connectionLost, phase: .answered))
                }
            }
            return response
        }
        let random: @Sendable () -> Double = {
            draws.withLock { draws in
                draws += 1
                return 0.5 + Double(draws % 7) / 14
            }
        }
        let client = testClient(configuration: .init(timeout: nil, clock: clock, random: random), transport: stub)
        let ticking = Task {
            while !Task.isCancelled {
                await clock.waitForSleepers(4)
                if clock.sleepers == 4, let next = clock.nextDeadline { clock.advance(to: next) }
            }
        }
        let error = await httpError {
            try await client.download(HTTPRequest("https://h/film"), to: folder.target, options: .init(parallel: 4))
        }
        ticking.cancel()
        await ticking.value
        #expect(error?.code == .connectionLost)
        // Half of each of the five waits at least.
        #expect(clock.now.offset >= .milliseconds(7_750))
    }

    @Test("Another version in one of the pieces starts it all again")
    func otherVersion() async throws {
        let other = Array(Self.content.reversed())
        server.next(
            { $0.fault = .throttle(bytesPerSecond: 8 << 20) },
            { [server] in
                server.replace(other, eTag: "\"2\"")
                $0 = .init(headers: ["ETag": "\"2\"", "Accept-Ranges": "bytes"], body: .bytes(other))
            })
        try await server.client().download(HTTPRequest(server.url), to: folder.target, options: .init(parallel: 2))
        #expect(folder.content == other)
    }

    @Test("A piece that is encoded all the same starts it all again")
    func encoded() async throws {
        server.next({ $0.fault = .throttle(bytesPerSecond: 8 << 20) }, { $0.headers[.contentEncoding] = "gzip" })
        try await server.client().download(HTTPRequest(server.url), to: folder.target, options: .init(parallel: 2))
        #expect(folder.content == Self.content)
        #expect(ranges.filter { $0 == nil }.count == 2)
    }

    @Test("One connection goes on where ranges are offered, and answered with the whole")
    func ignoredRanges() async throws {
        server.change { $0.ignoresRanges = true }
        // Slow, so that the others have asked before all is there.
        server.next({ $0.fault = .throttle(bytesPerSecond: 8 << 20) })
        try await server.client().download(HTTPRequest(server.url), to: folder.target, options: .init(parallel: 4))
        #expect(folder.content == Self.content)
        #expect(ranges.filter { $0 == nil }.count == 2)
    }

    private static let wholeAsPart: @Sendable (inout MockServer.Response) -> Void = {
        guard $0.status == 206 else { return }
        $0.body = .bytes(content)
        $0.headers[.transferEncoding] = "chunked"
    }

    @Test("One connection goes on where a part tells no length, so that it may be more than its range")
    func partsWithoutLength() async throws {
        server.next({ $0.fault = .throttle(bytesPerSecond: 8 << 20) })
        for _ in 0..<8 { server.next(Self.wholeAsPart) }
        try await server.client().download(HTTPRequest(server.url), to: folder.target, options: .init(parallel: 4))
        #expect(folder.content == Self.content)
        #expect(ranges.filter { $0 == nil }.count == 2)
    }

    @Test("… also where it is the rest of what an earlier download has left")
    func restWithoutLength() async throws {
        server.cut(1 << 20)
        server.next({ _ in }, Self.wholeAsPart)
        let lost = await httpError {
            try await server.client().download(HTTPRequest(server.url), to: folder.target, options: .init(resumes: 0))
        }
        #expect(lost?.code == .connectionLost)
        let error = await httpError {
            try await server.client().download(HTTPRequest(server.url), to: folder.target, options: .init(parallel: 4))
        }
        #expect(error?.code == .protocolViolation)
        #expect(ranges.count == 2 && folder.names.isEmpty)
    }

    @Test("Parts that are shorter than what was asked for are no failures")
    func shortParts() async throws {
        server.change { $0.largestPart = 1 << 20 }
        server.next({ $0.fault = .throttle(bytesPerSecond: 8 << 20) })
        try await server.client().download(
            HTTPRequest(server.url), to: folder.target, options: .init(parallel: 3, resumes: 0))
        #expect(folder.content == Self.content)
    }

    @Test("What several connections have left is gone on with by one, or by several", arguments: [1, 3])
    func later(parallel: Int) async throws {
        let cut: @Sendable (inout MockServer.Response) -> Void = { $0.fault = .disconnect(.insideBody(afterBytes: 3 << 20)) }
        server.next({ $0.fault = .disconnect(.insideBody(afterBytes: 4 << 20)) }, cut, cut, cut)
        let error = await httpError {
            try await server.client().download(
                HTTPRequest(server.url), to: folder.target, options: .init(parallel: 4, resumes: 0))
        }
        #expect(error?.code == .connectionLost)
        #expect(folder.names.count == 2)
        let before = server.requests.count
        try await server.client().download(HTTPRequest(server.url), to: folder.target, options: .init(parallel: parallel))
        #expect(folder.content == Self.content)
        // It isn't loaded from the beginning.
        #expect(ranges.dropFirst(before).allSatisfy { $0.map { !$0.hasPrefix("bytes=0-") } ?? false })
    }

    @Test("Pieces: who takes what")
    func pool() {
        let least = PiecePool.least
        let pool = PiecePool([0..<least, 10 * least..<20 * least])
        #expect(pool.take() == 0 && pool.take() == 1)
        // Half of the largest.
        #expect(pool.take() == 2)
        #expect(pool.range(of: 1) == 10 * least..<15 * least && pool.range(of: 2) == 15 * least..<20 * least)
        #expect(pool.advance(1, by: 4 * least) == 4 * least)
        #expect(pool.advance(1, by: 4 * least) == least && pool.range(of: 1).isEmpty)
        #expect(pool.advance(2, by: 4 * least) == 4 * least)
        // What is smaller isn't divided.
        #expect(pool.take() == nil)
        #expect(pool.takeStalled(for: .seconds(2), at: .zero) == nil)
        #expect(pool.advance(0, by: 1) == 1)
        #expect(pool.takeStalled(for: .seconds(2), at: .seconds(1)) == nil)
        let taken = pool.takeStalled(for: .seconds(2), at: .seconds(2))
        #expect(taken.map(pool.range(of:)) == 19 * least..<20 * least && pool.range(of: 2).isEmpty)
        #expect(!pool.began(2, .empty) && pool.began(0, .empty))
        pool.giveBack(0)
        #expect(pool.take() == 0)
        #expect(!pool.isDone)
        _ = pool.advance(0, by: least)
        _ = taken.map { pool.advance($0, by: least) }
        #expect(pool.isDone)
    }

    @Test("A piece that waits for its first byte isn't taken over like one that stands still, nor is any for ever")
    func patience() {
        let least = PiecePool.least
        let pool = PiecePool([0..<2 * least])
        #expect(pool.take() == 0 && pool.advance(0, by: 1) == 1 && pool.take() == nil)
        #expect(pool.takeStalled(for: .seconds(2), at: .zero) == nil)
        #expect(pool.takeStalled(for: .seconds(2), at: .seconds(2)) == 1)
        var now = Duration.seconds(2)
        var takeovers = [now]
        while now < .seconds(3_600) {
            if pool.takeStalled(for: .seconds(2), at: now) != nil { takeovers.append(now) }
            now += .seconds(1)
        }
        // Each is looked at first in the second after it was taken over.
        #expect(takeovers == [2, 22, 63, 144, 305].map { .seconds($0) })
    }

    /// What is asked for of so many bytes, without its body.
    private static func answer(to request: HTTPRequest, of count: Int) -> (response: HTTPResponse, range: Range<Int>) {
        var response = HTTPResponse(
            status: .ok, headers: ["ETag": "\"1\"", "Accept-Ranges": "bytes", "Content-Length": "\(count)"], request: request)
        guard let text = request.headers[.range] else { return (response, 0..<count) }
        let bounds = text.dropFirst("bytes=".count).split(separator: "-").compactMap { Int($0) }
        let range = bounds[0]..<(bounds.count > 1 ? bounds[1] + 1 : count)
        response.status = .partialContent
        response.headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(count)"
        response.headers[.contentLength] = "\(range.count)"
        return (response, range)
    }

    @Test("Heads that take longer than a standstill lasts are waited for")
    func lateHeads() async throws {
        let clock = TestClock()
        // So much that who is done early takes pieces whose heads come when all others are done.
        let content = FileServer.blocks(640)
        let stub = StubTransport { request in
            var (response, range) = Self.answer(to: request, of: content.count)
            if response.status == .partialContent { try await clock.sleep(for: .seconds(5)) }
            let (place, end) = (Locked(range.lowerBound), range.upperBound)
            response.body = .stream(length: Int64(range.count)) {
                AsyncThrowingStream<[UInt8], any Error> {
                    try await clock.sleep(for: .milliseconds(100))
                    return place.withLock { place in
                        let next = min(place + (512 << 10), end)
                        defer { place = next }
                        return place < next ? Array(content[place..<next]) : nil
                    }
                }
            }
            return response
        }
        let client = testClient(configuration: .init(timeout: nil, clock: clock), transport: stub)
        let target = folder.target
        let (delays, result) = await clock.waits(500) {
            try await client.download(HTTPRequest("https://h/film"), to: target, options: .init(parallel: 4))
        }
        _ = try result.get()
        #expect(folder.content == content)
        // The clock may run ahead of a connection that hasn't begun to wait yet, so one takeover or another may happen.
        #expect(delays.reduce(.zero, +) < .seconds(90))
        let asked = stub.requests.compactMap { $0.headers[.range]?.split(separator: "-").first }
        #expect(Dictionary(grouping: asked, by: \.self).values.allSatisfy { $0.count <= 3 })
    }
}
