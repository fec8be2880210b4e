import Foundation
import Interception
import Midstream
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamTransfers

@Suite("What a transfer goes on after", .leavesNothing, .timeLimit(.minutes(10)))
struct ResumptionPaceTests {
    /// Closes a breaker once it has refused.
    private struct Closing: HTTPInterceptor {
        let breaker: CircuitBreaker

        func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
            do { return try await next(request) } catch let error as HTTPError where error.code == .circuitOpen {
                breaker.close()
                throw error
            }
        }
    }

    @Test("A download that a breaker keeps from its rest asks again")
    func breaker() async throws {
        let content = FileServer.content(100_000)
        let server = try FileServer(content)
        let folder = try TemporaryFolder()
        let breaker = CircuitBreaker()
        server.cut(50_000)
        server.next({ _ in breaker.isolate() })
        let client = server.client {
            Closing(breaker: breaker)
            breaker
        }
        try await client.download(HTTPRequest(server.url), to: folder.target)
        #expect(folder.content == content)
        #expect(server.requests.map { $0.headers[.range] } == [nil, "bytes=50000-"])
    }

    @Test("Connections that break off together pause as the first of them does, and as long as any server asks")
    func commonPause() async throws {
        let (clock, draws) = (TestClock(), Locked([0.5]))
        let random: @Sendable () -> Double = { draws.withLock { $0.popLast() ?? 1 } }
        let client = testClient(
            configuration: .init(timeout: nil, clock: clock, random: random), transport: StubTransport.ok
        ) {
            ClosureHTTPInterceptor { request, next in
                let count = ResumptionCount(ResumptionPace(of: next))
                let lost = HTTPError(.connectionLost, phase: .answered)
                let busy = HTTPResponse(status: 503, headers: [.retryAfter: "7"], request: request)
                let refused = HTTPError(.unacceptableStatus, response: busy, phase: .answered)
                for (number, (first, second)) in [(lost, lost), (refused, lost), (lost, refused)].enumerated() {
                    for error in [first, second] { #expect(count.next(after: number, pausingFor: error) == number + 1) }
                    #expect(try await count.afterPause() == number + 1)
                }
                return try await next(request)
            }
        }
        let (delays, result) = await clock.waits(3) { try await client.send(HTTPRequest("https://h/")) }
        #expect(delays == [.milliseconds(250), .seconds(7), .seconds(7)])
        #expect(try result.get().status == 200)
    }

    /// Fails at the second request, as a proxy that is being restarted.
    private struct RestartedProxy: HTTPInterceptor {
        private let requests = Locked(0)

        func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
            let number = requests.increment()
            if number == 2 { throw HTTPError(.proxy, request: request, phase: .notSent) }
            return try await next(request)
        }
    }

    @Test("A proxy that fails between two parts of a download is asked again")
    func proxyOfDownload() async throws {
        let content = FileServer.content(100_000)
        let server = try FileServer(content)
        let folder = try TemporaryFolder()
        server.cut(50_000)
        let response = try await server.client { RestartedProxy() }.download(HTTPRequest(server.url), to: folder.target)
        #expect(folder.content == content)
        #expect(server.requests.map { $0.headers[.range] } == [nil, "bytes=50000-"])
        #expect(response.trace.description.contains("broke off after 50000 bytes: proxy"))
    }

    @Test("A proxy that fails between two parts of an upload is asked again")
    func proxyOfUpload() async throws {
        let content = FileServer.content(100_000)
        let server = try UploadServer(.init(cuts: [50_000]))
        let client = testClient(configuration: .init(random: { 0 })) { RestartedProxy() }
        _ = try await client.upload(.bytes(content), to: server.url)
        #expect(server.content.elementsEqual(content) && server.isComplete)
        #expect(server.requests.map(\.method) == ["POST", "HEAD", "PATCH"])
    }

    @Test("What fails since the transport has been closed isn't asked for again")
    func closedTransport() {
        let failure = HTTPError(.connection, phase: .notSent)
        #expect(failure.mayPass)
        #expect(!failure.forGood.mayPass)
    }
}
