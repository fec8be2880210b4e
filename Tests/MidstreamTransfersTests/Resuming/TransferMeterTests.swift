import Foundation
import Midstream
import MidstreamSigning
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamTransfers

@Suite("How far a transfer has come", .leavesNothing, .timeLimit(.minutes(10)))
struct TransferMeterTests {
    private func lastUpdate(of meter: TransferMeter) -> Task<TransferProgress?, Never> {
        Task {
            var last: TransferProgress?
            for await update in meter { last = update }
            return last
        }
    }

    @Test("No more than so many updates a second, and the last")
    func pace() async {
        let clock = TestClock()
        let meter = TransferMeter(perSecond: 10)
        var updates = meter.makeAsyncIterator()
        meter.begin(.download, at: 100, of: 1_000, isRestart: false, on: clock)
        let first = await updates.next()
        #expect(first?.bytes == 100 && first?.resumedFrom == 100 && first?.total == 1_000 && first?.rate == nil)
        #expect(first?.fraction == 0.1 && first?.timeLeft == nil)
        meter.advance(to: 200, wire: 100)
        clock.advance(by: .milliseconds(99))
        meter.advance(to: 300, wire: 100)
        clock.advance(by: .milliseconds(1))
        meter.advance(to: 400, wire: 100)
        #expect(await updates.next()?.bytes == 400)
        meter.advance(to: 1_000, wire: 100)
        meter.finish()
        meter.advance(to: 2_000, wire: 100)
        let last = await updates.next()
        #expect(last?.bytes == 1_000 && last?.wireBytes == 400)
        #expect(await updates.next() == nil)
    }

    @Test("The rate is the median of five seconds, so that a pause or a burst doesn't count")
    func rate() async {
        let clock = TestClock()
        let meter = TransferMeter(perSecond: 1_000)
        var updates = meter.makeAsyncIterator()
        meter.begin(.download, at: 0, of: 100_000, isRestart: false, on: clock)
        var bytes: Int64 = 0
        for quarter in 0..<40 {
            bytes += quarter == 20 ? 5_000 : quarter % 7 == 0 ? 0 : 250
            meter.advance(to: bytes, wire: 100)
            clock.advance(by: .milliseconds(250))
        }
        meter.advance(to: bytes, wire: 100)
        let update = await updates.next()
        #expect(update?.rate == 1_000)
        #expect(update?.timeLeft == .seconds(Double(100_000 - bytes) / 1_000))
        clock.advance(by: .seconds(60))
        meter.advance(to: bytes, wire: 100)
        let late = await updates.next()
        #expect(late?.rate == 0 && late?.timeLeft == nil)
    }

    @Test("Data that comes slowly has a rate, and an end", arguments: [300, 400, 600, 1_000, 3_000, 6_000])
    func slowly(milliseconds: Int) async throws {
        let clock = TestClock()
        let meter = TransferMeter(perSecond: 1_000)
        var updates = meter.makeAsyncIterator()
        meter.begin(.download, at: 0, of: 1 << 30, isRestart: false, on: clock)
        _ = await updates.next()
        var bytes: Int64 = 0
        for _ in 0..<(60_000 / milliseconds) {
            clock.advance(by: .milliseconds(milliseconds))
            bytes += 64 << 10
            meter.advance(to: bytes, wire: 64 << 10)
            let update = try #require(await updates.next())
            guard clock.now.offset > .seconds(20) else { continue }
            let rate = Double(64 << 10) / (Double(milliseconds) / 1_000)
            #expect(abs((update.rate ?? 0) / rate - 1) < 0.4)
            #expect(update.timeLeft != nil)
        }
    }

    @Test("A download tells where it was resumed, and that it began again")
    func download() async throws {
        let content = FileServer.content(100_000)
        let server = try FileServer(content)
        let folder = try TemporaryFolder()
        func updates(_ prepare: () -> Void) async throws -> [TransferProgress] {
            prepare()
            let meter = TransferMeter(perSecond: 1e6)
            let reader = Task {
                var updates: [TransferProgress] = []
                for await update in meter { updates.append(update) }
                return updates
            }
            _ = try? await server.client().download(
                HTTPRequest(server.url), to: folder.target, options: .init(resumes: 0, meter: meter))
            return await reader.value
        }
        let broken = try await updates { server.cut(40_000) }
        #expect(broken.last?.bytes == 40_000 && broken.last?.total == 100_000 && broken.last?.resumedFrom == 0)
        let resumed = try await updates {}
        #expect(resumed.last?.bytes == 100_000 && resumed.last?.resumedFrom == 40_000 && resumed.last?.restarts == 0)
        _ = try await updates { server.cut(40_000) }
        let again = try await updates { server.replace(content, eTag: "\"2\"") }
        #expect(again.last?.bytes == 100_000 && again.last?.resumedFrom == 0 && again.last?.restarts == 1)
        #expect(resumed.last?.wireBytes == 60_000 && again.last?.wireBytes == 100_000)
    }

    @Test("A download tells the total once a part of it does")
    func lateTotal() async throws {
        let server = try FileServer(FileServer.content(100_000))
        let folder = try TemporaryFolder()
        server.cut(40_000)
        server.next({ $0.headers[.transferEncoding] = "chunked" })
        let meter = TransferMeter(perSecond: 1e6)
        let reader = lastUpdate(of: meter)
        try await server.client().download(HTTPRequest(server.url), to: folder.target, options: .init(meter: meter))
        let last = await reader.value
        #expect(last?.bytes == 100_000 && last?.total == 100_000)
    }

    @Test("A transfer that never begins has an end", arguments: [true, false])
    func neverBegun(isAnswered: Bool) async throws {
        let folder = try TemporaryFolder()
        let target = isAnswered ? folder.target : folder.target.appendingPathComponent("missing/file")
        let client = testClient(transport: StubTransport(status: .ok)) {
            if isAnswered {
                ClosureHTTPInterceptor("Offline", stage: .call) { request, _ in HTTPResponse(status: .ok, request: request) }
            }
        }
        let (down, up) = (TransferMeter(), TransferMeter())
        await #expect(throws: HTTPError.self) {
            try await client.download(HTTPRequest("https://h/"), to: target, options: .init(meter: down))
        }
        for await _ in down {}
        let missing = UploadContent.file(folder.target.appendingPathComponent("missing"))
        _ = try? await client.upload(missing, to: "https://h/", meter: up)
        for await _ in up {}
    }

    @Test("An upload tells what the server has got")
    func upload() async throws {
        let server = try UploadServer(.init(cuts: [40_000]))
        let meter = TransferMeter(perSecond: 1e6)
        let reader = lastUpdate(of: meter)
        try await testClient().upload(.bytes(FileServer.content(100_000)), to: server.url, meter: meter)
        let last = await reader.value
        #expect(last?.bytes == 100_000 && last?.total == 100_000 && last?.resumedFrom == 40_000)
        #expect((last?.wireBytes ?? 0) >= 100_000)
    }

    @Test("What is only read for its digest hasn't been sent")
    func digestedUpload() async throws {
        let server = try UploadServer()
        let meter = TransferMeter(perSecond: 1e6)
        let reader = lastUpdate(of: meter)
        let client = testClient { SendDigest() }
        try await client.upload(.bytes(FileServer.content(100_000)), to: server.url, meter: meter)
        let last = await reader.value
        #expect(last?.bytes == 100_000 && last?.wireBytes == 100_000)
    }
}
