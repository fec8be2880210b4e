import Foundation
import Interception
import Midstream
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamTelemetry

@Suite("A recorder of archives", .leavesNothing, .timeLimit(.minutes(10)))
struct HARRecorderTests {
    private func client(_ recorder: HARRecorder, _ transport: StubTransport = .ok) -> HTTPClient {
        testClient(configuration: .init(observers: [recorder]), transport: transport)
    }

    @Test("makes a file for its owner alone, and doesn't touch one that is there")
    func file() async throws {
        try await withFolder { folder in
            let path = "\(folder)/a.har"
            let recorder = try HARRecorder(file: path)
            _ = try await client(recorder).send(HTTPRequest("http://h/"))
            await recorder.flush()
            let permissions = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(permissions == 0o600)
            #expect(throws: HARArchive.Failure.fileExists(path)) { try HARRecorder(file: path) }
            let other = "\(folder)/other.har"
            try Data("{}".utf8).write(to: URL(fileURLWithPath: other))
            #expect(throws: HARArchive.Failure.fileExists(other)) { try HARRecorder(file: other, isContinued: true) }
            #expect(try String(contentsOfFile: other, encoding: .utf8) == "{}")
            #expect(throws: HARArchive.Failure.self) { try HARRecorder(file: "\(folder)/none/a.har") }
        }
    }

    @Test("continues a file that was cut off behind its last whole entry")
    func torn() async throws {
        try await withFolder { folder in
            let path = "\(folder)/a.har"
            let first = try HARRecorder(file: path)
            for _ in 0..<3 { _ = try await client(first).send(HTTPRequest("http://h/")) }
            await first.close()
            let whole = try Data(contentsOf: URL(fileURLWithPath: path))
            try whole.dropLast(20).write(to: URL(fileURLWithPath: path))
            let second = try HARRecorder(file: path, isContinued: true)
            #expect(try JSONSerialization.jsonObject(with: Data(contentsOf: URL(fileURLWithPath: path))) is [String: Any])
            _ = try await client(second).send(HTTPRequest("http://h/"))
            await second.flush()
            #expect(try HARArchive(contentsOf: path).count == 3)
        }
    }

    @Test("doesn't continue a capsule, whose account it would write over", arguments: [0, 1])
    func capsule(entries: Int) async throws {
        try await withFolder { folder in
            let (path, kept) = ("\(folder)/a.har", CallKeeper())
            let client = testClient(configuration: .init(observers: [kept]), transport: StubTransport.ok)
            for _ in 0..<entries { _ = try await client.send(HTTPRequest("http://h/")) }
            var archive = HARArchive(kept.exchanges)
            archive.account = HARArchive.Account(failure: "404")
            try archive.encoded().write(to: URL(fileURLWithPath: path))
            #expect(throws: HARArchive.Failure.fileExists(path)) { try HARRecorder(file: path, isContinued: true) }
            #expect(try HARArchive(contentsOf: path).account == archive.account)
        }
    }

    @Test("has its file for itself until it is closed, and writes nothing more to it then")
    func alone() async throws {
        try await withFolder { folder in
            let path = "\(folder)/a.har"
            let first = try HARRecorder(file: path)
            _ = try await client(first).send(HTTPRequest("http://h/"))
            let failure = HARArchive.Failure.file("a recorder still writes to the file \(path)")
            #expect(throws: failure) { try HARRecorder(file: path, isContinued: true) }
            #expect(throws: failure) { try HARArchive.mend(path) }
            await first.close()
            let second = try HARRecorder(file: path, isContinued: true)
            for recorder in [first, second] {
                _ = try await client(recorder).send(HTTPRequest("http://h/"))
                await recorder.flush()
            }
            #expect(first.failure == nil)
            #expect(try HARArchive(contentsOf: path).count == 2)
        }
    }

    @Test("stops at its limit, and the last entry tells how many are missing")
    func limit() async throws {
        try await withFolder { folder in
            let path = "\(folder)/a.har"
            let recorder = try HARRecorder(file: path, limit: 2)
            for _ in 0..<5 { _ = try await client(recorder).send(HTTPRequest("http://h/")) }
            await recorder.flush()
            await recorder.flush()
            let archive = try HARArchive(contentsOf: path)
            #expect(archive.count == 2 && archive.entries[1]._midstream?.omitted == 3 && recorder.omitted == 3)
        }
    }

    @Test("stops before its file is larger than what is read, which the last entry tells as well")
    func size() async throws {
        try await withFolder { folder in
            let (path, large) = ("\(folder)/a.har", "\(folder)/large.har")
            // The second one has no room for any.
            for (calls, all, limit) in [(30, 30, 5_000), (3, 33, 0)] {
                let sink = ArchiveSink(
                    try HARFile(at: path, isContinued: limit == 0, limit: limit), keepsBodies: 0, limit: .max, redaction: nil,
                    includesSecrets: false)
                let client = testClient(configuration: .init(observers: [sink]), transport: StubTransport.ok)
                for _ in 0..<calls { _ = try await client.send(HTTPRequest("http://h/")) }
                sink.writeOpen()
                sink.writeOpen()
                sink.close()
                let archive = try HARArchive(contentsOf: path, limit: 5_000 + 1_024)
                #expect(archive.count > 0 && archive.entries.last?._midstream?.omitted == all - archive.count)
            }
            try Data().write(to: URL(fileURLWithPath: large))
            #expect(truncate(large, off_t(HARArchive.defaultLimit) + 1) == 0)
            #expect(throws: HARArchive.Failure.tooLarge(limit: HARArchive.defaultLimit)) {
                try HARRecorder(file: large, isContinued: true)
            }
        }
    }

    @Test("keeps all of each body where it has no limit, and is read without one")
    func unlimited() async throws {
        try await withFolder { folder in
            let path = "\(folder)/a.har"
            let recorder = try HARRecorder(file: path, bodies: .max, limit: .max)
            let body = String(repeating: "a", count: 300 << 10)
            _ = try await client(recorder).send(HTTPRequest(.put, "http://h/", body: .text(body)))
            await recorder.flush()
            let archive = try HARArchive(contentsOf: path, limit: .max)
            #expect(archive.entries.map(\.request.postData?.text) == [body])
        }
    }

    @Test("writes a streamed exchange when its body ends, or as it is when it is flushed")
    func streams() async throws {
        try await withFolder { folder in
            let path = "\(folder)/a.har"
            let recorder = try HARRecorder(file: path)
            let transport = StubTransport { request in
                HTTPResponse(
                    status: .ok, headers: [.contentType: "text/plain"], body: .incoming(ArrivingBody()), request: request)
            }
            let client = client(recorder, transport)
            let (read, open) = (
                try await client.stream(HTTPRequest("http://h/read")), try await client.stream(HTTPRequest("http://h/open"))
            )
            #expect(try HARArchive(contentsOf: path).count == 0)
            _ = try await read.body.collect()
            await recorder.flush()
            let archive = try HARArchive(contentsOf: path)
            #expect(archive.entries.map(\.request.url) == ["http://h/read", "http://h/open"])
            #expect(archive.entries.map(\.response.content.text) == ["hello", nil])
            #expect(archive.entries.map(\._midstream?.isOpen) == [nil, true])
            _ = try await open.body.collect()
            await recorder.flush()
            #expect(try HARArchive(contentsOf: path).count == 2)
        }
    }

    @Test("tells of a body that broke off or was closed how long its head took, and what was measured", arguments: [true, false])
    func unfinishedStreams(breaksOff: Bool) async throws {
        try await withFolder { folder in
            let (recorder, clock) = (try HARRecorder(file: "\(folder)/a.har"), TestClock())
            var failure = HTTPError(.connectionLost)
            failure.metrics = TransportMetrics()
            failure.metrics?.remoteAddress = "192.0.2.1"
            let transport = StubTransport { [failure] request in
                clock.advance(by: .milliseconds(20))
                return HTTPResponse(status: .ok, body: .incoming(ArrivingBody(thenThrowing: failure)), request: request)
            }
            let client = testClient(
                configuration: .init(timeout: nil, clock: clock, observers: [recorder]), transport: transport)
            let body = try await client.stream(HTTPRequest("http://h/")).body
            clock.advance(by: .seconds(40))
            if breaksOff { _ = try? await body.collect() } else { body.close() }
            await recorder.flush()
            let entries = try HARArchive(contentsOf: "\(folder)/a.har").entries
            #expect(entries.map { [$0.timings.wait, $0.timings.receive] } == [[20, 40_000]])
            #expect(entries.map(\.serverIPAddress) == [breaksOff ? "192.0.2.1" : nil])
        }
    }

    @Test("tells of a streamed exchange what had happened before it, too")
    func eventsBeforeStreams() async throws {
        try await withFolder { folder in
            let recorder = try HARRecorder(file: "\(folder)/a.har")
            let transport = StubTransport { request in
                request.attempt == 1
                    ? HTTPResponse(status: .serviceUnavailable, request: request)
                    : HTTPResponse(status: .ok, body: .incoming(ArrivingBody()), request: request)
            }
            let client = testClient(
                configuration: .init(maxRetries: 1, random: { 0 }, observers: [recorder]), transport: transport)
            let read = try await client.stream(HTTPRequest("http://h/read"))
            _ = try await read.body.collect()
            let open = try await client.stream(HTTPRequest("http://h/open"))
            await recorder.flush()
            let entries = try HARArchive(contentsOf: "\(folder)/a.har").entries
            #expect(entries.map { $0._midstream?.events?.contains { $0.name == "retry" } } == [nil, true, nil, true])
            open.body.close()
        }
    }

    @Test("writes the events of a stream, without the secrets in their data")
    func events() async throws {
        try await withFolder { folder in
            let recorder = try HARRecorder(file: "\(folder)/a.har")
            let transport = StubTransport { request in
                let body = ArrivingBody([Array("data: {\"access_token\":\"S\"}\n".utf8), Array("\ndata: [DONE]\n\n".utf8)])
                return HTTPResponse(
                    status: .ok, headers: [.contentType: "text/event-stream"], body: .incoming(body), request: request)
            }
            _ = try await client(recorder, transport).stream(HTTPRequest("http://h/")).body.collect()
            await recorder.flush()
            let entries = try HARArchive(contentsOf: "\(folder)/a.har").entries
            let text = "data: {\"access_token\":\"‹withheld›\"}\n\ndata: [DONE]\n\n"
            #expect(entries.map(\.response.content.text) == [text])
        }
    }

    @Test("that keeps no bodies tells where there were any, which the transport doesn't measure")
    func withoutBodies() async throws {
        try await withFolder { folder in
            let recorder = try HARRecorder(file: "\(folder)/a.har", bodies: 0)
            let client = client(recorder, StubTransport(status: .noContent))
            for body in [.empty, .text("text"), .incoming(ArrivingBody())] as [HTTPBody] {
                _ = try await client.send(HTTPRequest(.put, "http://h/", body: body))
            }
            await recorder.flush()
            let archive = try HARArchive(contentsOf: "\(folder)/a.har")
            #expect(archive.calls.map(\.isCut) == [false, true, true])
            // A response without a body has all of it.
            let replay = testClient(transport: ReplayTransport(archive))
            #expect(try await replay.send(HTTPRequest(.put, "http://h/")).status == .noContent)
        }
    }

    @Test("writes no more of bodies than it keeps, whatever else the client's observers keep")
    func othersBodies() async throws {
        try await withFolder { folder in
            let none = try HARRecorder(file: "\(folder)/none.har", bodies: 0)
            let some = try HARRecorder(file: "\(folder)/some.har", bodies: 6)
            let client = testClient(
                configuration: .init(observers: [none, some, CallKeeper()]), transport: StubTransport.ok)
            _ = try await client.send(HTTPRequest(.put, "http://h/", body: .text("secret text")))
            for (recorder, name, kept) in [(none, "none", nil), (some, "some", "secret")] as [(HARRecorder, String, String?)] {
                await recorder.flush()
                let archive = try HARArchive(contentsOf: "\(folder)/\(name).har")
                #expect(archive.entries.map(\.request.postData?.text) == [kept] && archive.calls.map(\.isCut) == [true])
            }
        }
    }

    @Test("tells what a cache answered, which isn't played")
    func cache() async throws {
        try await withFolder { folder in
            let recorder = try HARRecorder(file: "\(folder)/a.har")
            let transport = StubTransport { request in
                HTTPResponse(
                    status: .ok, headers: [.cacheControl: "max-age=60", .contentType: "text/plain"], body: .text("kept"),
                    request: request)
            }
            let client = testClient(configuration: .init(observers: [recorder]), transport: transport) { CacheInterceptor() }
            for _ in 0..<2 { _ = try await client.send(HTTPRequest("http://h/?token=S3CR3T")) }
            await recorder.flush()
            let archive = try HARArchive(contentsOf: "\(folder)/a.har")
            #expect(archive.entries.map(\._fromCache) == [nil, "memory"])
            #expect(archive.entries[1].response.status == 200 && !archive.entries[1].request.url.contains("S3CR3T"))
            let replay = testClient(transport: ReplayTransport(archive))
            for _ in 0..<2 { #expect(try await replay.send(HTTPRequest("http://h/?token=x")).body.text == "kept") }
        }
    }

    @Test("tells what a cache answered in the place of an error, and by what another call had asked for")
    func cacheWithoutHit() async throws {
        try await withFolder { folder in
            let recorder = try HARRecorder(file: "\(folder)/a.har")
            let (clock, gate, isGone) = (TestClock(), Gate(), Locked(false))
            let transport = StubTransport { request in
                await gate.wait()
                let control = request.urlText.hasSuffix("stale") ? "max-age=0, stale-if-error=600" : "max-age=60"
                return HTTPResponse(status: .ok, headers: [.cacheControl: control], body: .text("kept"), request: request)
            }
            var configuration = HTTPClient.Configuration(observers: [recorder])
            configuration.clock = clock
            configuration.timeout = nil
            let client = testClient(configuration: configuration, transport: transport) {
                CacheInterceptor()
                ClosureHTTPInterceptor(stage: .exchange) { request, next in
                    if isGone.withLock({ $0 }) { throw HTTPError(.connection, phase: .notSent) }
                    return try await next(request)
                }
            }
            let first = Task { try await client.send(HTTPRequest("http://h/shared")) }
            await gate.reached()
            let second = Task { try await client.send(HTTPRequest("http://h/shared")) }
            // It waits for the first, no longer than its patience.
            await eventually { clock.sleepers > 0 }
            gate.open()
            for call in [first, second] { #expect(try await call.value.body.text == "kept") }
            _ = try await client.send(HTTPRequest("http://h/stale"))
            isGone.withLock { $0 = true }
            #expect(try await client.send(HTTPRequest("http://h/stale")).body.text == "kept")
            await recorder.flush()
            let archive = try HARArchive(contentsOf: "\(folder)/a.har")
            #expect(archive.entries.count == 4 && archive.entries.compactMap(\._fromCache) == ["memory", "memory"])
        }
    }

    @Test("withholds what its own redaction names in the words of a failure as well")
    func failures() async throws {
        try await withFolder { folder in
            let redaction = Redaction(queryItems: ["session"])
            let (recorder, keeper) = (try HARRecorder(file: "\(folder)/a.har", redaction: redaction), CallKeeper())
            let transport = StubTransport { _ in
                throw HTTPError(.connection, "There is no way to http://h/lost?session=S3CR3T&page=7.")
            }
            let client = testClient(configuration: .init(observers: [recorder, keeper]), transport: transport)
            _ = try? await client.send(HTTPRequest("http://h/"))
            await recorder.flush()
            for text in [
                try String(contentsOfFile: "\(folder)/a.har", encoding: .utf8),
                CallReport(keeper.calls, redaction: redaction).html(),
            ] {
                #expect(!text.contains("S3CR3T") && text.contains("page=7"))
            }
        }
    }

    @Test("refuses what is no file, such as a device that has no end")
    func devices() async throws {
        #expect(throws: HARArchive.Failure.fileExists("/dev/zero")) { try HARRecorder(file: "/dev/zero", isContinued: true) }
        #expect(throws: HARArchive.Failure.fileExists("/")) { try HARRecorder(file: "/", isContinued: true) }
        try await withFolder { folder in
            let path = "\(folder)/link.har"
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/dev/full")
            #expect(throws: HARArchive.Failure.fileExists(path)) { try HARRecorder(file: path, isContinued: true) }
        }
    }

    @Test("makes a file only where there is nothing, whatever others make meanwhile")
    func made() async throws {
        try await withFolder { folder in
            // What leads to nothing is there all the same.
            let link = "\(folder)/link.har"
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "\(folder)/none.har")
            #expect(throws: HARArchive.Failure.fileExists(link)) { try HARRecorder(file: link) }
            for number in 0..<20 {
                let path = "\(folder)/\(number).har"
                let count = await withTaskGroup(of: Bool.self) { group in
                    for _ in 0..<8 { group.addTask { (try? HARFile(at: path, isContinued: false)) != nil } }
                    return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
                }
                #expect(count == 1)
            }
        }
    }
}
