import Foundation
import Interception
import MidstreamTasks
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("D3 Progress", .leavesNothing) struct ProgressTests {
    /// Reads what it is sent, and answers with chunks.
    private func stub(_ chunks: [[UInt8]], length: Int64? = nil) -> StubTransport {
        StubTransport { request in
            _ = try await request.body.collect()
            return HTTPResponse(status: .ok, body: .stream(length: length) { AsyncStream(chunks) }, request: request)
        }
    }

    @Test func downloadsAreReportedAsTheyArrive() async throws {
        let log = Log<TransferProgress>()
        let chunks: [[UInt8]] = [[1, 2, 3], [4], [5, 6]]
        let task = HTTPClient.stubbed(stub(chunks, length: 6)).get("a").progress(.download) { log.add($0) }
        #expect(try await task.data() == Data([1, 2, 3, 4, 5, 6]))
        #expect(log.entries.map(\.bytes) == [3, 4, 6])
        #expect(log.entries.allSatisfy { $0.total == 6 && $0.direction == .download })
        #expect(log.entries.last?.fraction == 1)
    }

    @Test func theTimeLeftIsToldOfAnyNumbers() {
        func timeLeft(_ bytes: Int64, of total: Int64) -> Duration? {
            TransferProgress(.download, bytes: bytes, total: total, rate: 1).timeLeft
        }
        #expect(timeLeft(-1, of: .max) == .seconds(1_000_000_000))
        #expect(timeLeft(.max, of: .min) == .zero)
    }

    @Test func aDownloadOfUnknownLengthHasNoTotal() async throws {
        let log = Log<TransferProgress>()
        _ = try await HTTPClient.stubbed(stub([[1]])).get("a").progress { log.add($0) }.data()
        #expect(log.entries == [TransferProgress(.download, bytes: 1, total: nil)])
        #expect(log.entries[0].fraction == nil)
    }

    @Test func uploadsAreReportedInPieces() async throws {
        let log = Log<TransferProgress>()
        let body = [UInt8](repeating: 7, count: 150_000)
        let stub = stub([])
        _ = try await HTTPClient.stubbed(stub).post("a", body: .bytes(body)).progress(.upload) { log.add($0) }.result()
        #expect(log.entries.map(\.bytes) == [65_536, 131_072, 150_000])
        #expect(log.entries.allSatisfy { $0.total == 150_000 && $0.direction == .upload })
        #expect(stub.requests[0].body.length == 150_000)
    }

    @Test func aBodyThatAnInterceptorPutsInKeepsItsMediaType() async throws {
        let stub = stub([])
        let task = HTTPClient.stubbed(stub).post("a")
            .interceptor(ClosureRequestInterceptor { $0.body = .json(text: "{}") })
            .progress(.upload) { _ in }
        _ = try await task.result()
        #expect(stub.requests[0].headers[.contentType] == "application/json")
        #expect(stub.requests[0].body.length == 2)
    }

    private struct LateCredential: HTTPInterceptor {
        let stage = InterceptorStage.exchange
        let rank = InterceptorRank.innermost

        func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
            var request = request
            request.headers[.authorization] = "late"
            return try await next(request)
        }
    }

    @Test("The response knows what was added further in, as caches have to, and the body as it was given")
    func whatWasSent() async throws {
        let client = testClient(baseURL: "https://example.com", transport: stub([[1]])) { LateCredential() }
        let response = try await client.post("a", body: .bytes([7])).progress { _ in }.response()
        #expect(response.request.headers[.authorization] == "late")
        #expect(response.request.body.bytes == [7] && !response.request.isWatchedArriving)
    }

    @Test func bothAreReportedToEveryoneWhoAsked() async throws {
        let inner = Log<TransferProgress.Direction>()
        let outer = Log<TransferProgress.Direction>()
        _ = try await HTTPClient.stubbed(stub([[1]])).post("a", body: .bytes([1]))
            .progress(.upload) { inner.add($0.direction) }
            .map { $0 }
            .progress { outer.add($0.direction) }
            .result()
        #expect(inner.entries == [.upload])
        #expect(outer.entries == [.upload, .download])
    }

    @Test func eachAttemptBeginsAgainAndSendsTheSameBody() async throws {
        let log = Log<Int64>()
        let bodies = Log<[UInt8]>()
        let stub = StubTransport { request in
            bodies.add(try await request.body.collect())
            return HTTPResponse(status: bodies.entries.count == 1 ? 503 : 200, request: request)
        }
        let clock = TestClock()
        let client = HTTPClient.stubbed(stub) {
            $0.clock = clock
            $0.timeout = nil
        }
        let task = client.put("a", body: .bytes([1, 2])).retries(1).progress(.upload) { log.add($0.bytes) }
        let running = Task { try await task.result() }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(60))
        #expect(try await running.value.head.status == .ok)
        #expect(log.entries == [2, 2])
        #expect(bodies.entries == [[1, 2], [1, 2]])
    }

    @Test func aBodyThatCanBeReadOnceIsStillRefusedASecondTime() async throws {
        let stub = stub([])
        let body = HTTPBody.once(AsyncStream([[1, 2, 3]]))
        let task = HTTPClient.stubbed(stub).put("a", body: body).progress { _ in }
        _ = try await task.result()
        #expect((await failure { try await task.result() } as? HTTPError)?.code == .bodyNotReplayable)
        #expect(stub.requests.count == 1)
    }

    @Test func aBodyThatCanBeReadOnceIsNotBegunAgainWhereARedirectLeads() async throws {
        let stub = StubTransport { request in
            _ = try await request.body.collect()
            return HTTPResponse(status: 307, headers: ["Location": "/b"], request: request)
        }
        let body = HTTPBody.once(AsyncStream([[1, 2, 3]]))
        let task = HTTPClient.stubbed(stub).post("a", body: body).progress { _ in }
        #expect((await failure { try await task.result() } as? HTTPError)?.code == .bodyNotReplayable)
        #expect(stub.requests.count == 1)
    }

    @Test func theResponseIsBufferedAndBoundedAsWithoutProgress() async throws {
        let stub = stub([[1, 2, 3]])
        let client = HTTPClient.stubbed(stub) { $0.maximumBufferedBody = 2 }
        let error = await failure { try await client.get("a").progress { _ in }.result() } as? HTTPError
        #expect(error?.code == .bodyTooLarge)
        let response = try await HTTPClient.stubbed(stub).get("a").progress { _ in }.result().response
        #expect(response?.body.bytes == [1, 2, 3])
    }
}
