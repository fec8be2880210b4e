import Foundation
import Midstream
import MidstreamCore
import MidstreamTelemetry
import MidstreamTesting
import TestSupport
import Testing

@Suite("What can't be played", .leavesNothing, .timeLimit(.minutes(10)))
struct UnplayableTests {
    private func archive(_ entries: [String]) throws -> HARArchive {
        try HARArchive(Data(#"{"log":{"entries":[\#(entries.joined(separator: ","))]}}"#.utf8))
    }

    @Test(
        "is an exchange that was cancelled: the next like it is the answer",
        arguments: [ReplayTransport.Order.byRequest, .sequence])
    func cancelledExchanges(order: ReplayTransport.Order) async throws {
        let recording = RecordingTransport(
            StubTransport(sequence: [
                .fail(CancellationError()), .respond(.ok, headers: [.contentType: "text/plain"], body: .text("hello")),
            ]))
        // As an exchange that loses to its hedge, and what somebody asks for who then leaves.
        _ = try? await recording.send(HTTPRequest("http://h/"))
        _ = try await recording.send(HTTPRequest("http://h/"))
        let archive = try HARArchive(recording.archive.encoded())
        #expect(archive.count == 2)
        let client = testClient(transport: ReplayTransport(archive, order: order))
        #expect(try await client.send(HTTPRequest("http://h/")).body.text == "hello")
        let alone = try self.archive([#"{"request":{"url":"http://h/"},"_midstream":{"error":"cancelled"}}"#])
        let other = testClient(transport: ReplayTransport(alone, order: order))
        #expect(await httpError { try await other.send(HTTPRequest("http://h/")) }?.code == .notRecorded)
    }

    @Test("is the rest of a body whose reader was cancelled", arguments: [#","text":"hel""#, ""])
    func cancelledReaders(text: String) async throws {
        let entry =
            #"{"request":{"url":"http://h/"},"response":{"status":200,"content":{"size":3\#(text)}},"#
            + #""_midstream":{"error":"cancelled","isCut":true}}"#
        let replay = ReplayTransport(try archive([entry]))
        let response = try await testClient(transport: replay).stream(HTTPRequest("http://h/"))
        #expect(response.status == .ok)
        #expect(await httpError { try await response.body.collect() }?.code == .notRecorded)
    }

    @Test("is a socket, which another transport opens each time, and which isn't kept")
    func sockets() async throws {
        let stub = StubTransport { request in .webSocket(answering: request) { try await $0.send("hello") } }
        let entry = #"{"request":{"url":"http://h/"},"response":{"status":101}}"#
        for miss in [ReplayTransport.Miss.forward(stub), .record(stub)] {
            let replay = ReplayTransport(try archive([entry]), miss: miss)
            for _ in 0..<2 {
                let response = try await replay.send(HTTPRequest("http://h/", headers: ["Upgrade": "websocket"]))
                #expect(response.channel != nil)
                response.body.close()
            }
            #expect(replay.archive.count == 0)
        }
        #expect(stub.requests.count == 4)
        let alone = ReplayTransport(try archive([entry]))
        #expect(await httpError { try await alone.send(HTTPRequest("http://h/")) }?.code == .notRecorded)
    }

    @Test("is asked of another transport as whose requests that sends")
    func identities() async throws {
        let cache = CacheInterceptor()
        for user in ["alice", "bob"] {
            for miss in [ReplayTransport.Miss.forward(Certified(user: user)), .record(Certified(user: user))] {
                let replay = ReplayTransport(HARArchive([]), miss: miss)
                let response = try await testClient(transport: replay) { cache }.send(HTTPRequest("http://h/"))
                #expect(String(decoding: response.data, as: UTF8.self) == user)
            }
        }
        #expect(ReplayTransport(HARArchive([])).identity == .nobody)
    }
}

/// Answers with whose certificate it shows.
private struct Certified: HTTPTransport {
    let user: String
    var identity: RequestIdentity { .user(user) }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        HTTPResponse(status: .ok, headers: [.cacheControl: "max-age=600"], body: .text(user), request: request)
    }
}
