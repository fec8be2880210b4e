import Foundation
import Midstream
import MidstreamCore
import MidstreamSigning
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamTransfers

@Suite("Bodies in memory that break off", .leavesNothing, .timeLimit(.minutes(10)))
struct ResumeBodiesTests {
    private static let content = FileServer.content(100_000)
    private let server: FileServer

    init() throws { server = try FileServer(Self.content) }

    private func client(_ limit: Int = 5, budget: RetryBudget? = RetryBudget()) -> HTTPClient {
        testClient(configuration: .init(retryBudget: budget)) { ResumeBodies(upTo: limit) }
    }

    private var ranges: [String?] { server.requests.map { $0.headers[.range] } }

    @Test("The rest is asked for and joined; the head is that of the whole")
    func resuming() async throws {
        server.cut(40_000, 10_000)
        let response = try await client().send(HTTPRequest(server.url))
        #expect(response.body.bytes == Self.content)
        #expect(response.status == .ok && response.headers[.contentRange] == nil && response.metrics?.total != nil)
        #expect(ranges == [nil, "bytes=40000-", "bytes=50000-"])
        #expect(response.trace.description.contains("the body broke off after 40000 bytes; asks for the rest"))
    }

    @Test("A version that has changed is taken as a whole")
    func replaced() async throws {
        let other = FileServer.content(70_000, seed: 2)
        server.cut(40_000)
        server.next({ _ in }, { $0 = .init(headers: ["ETag": "\"2\"", "X": "2"], body: .bytes(other)) })
        let response = try await client().send(HTTPRequest(server.url))
        #expect(response.body.bytes == other && response.headers["X"] == "2")
    }

    @Test("A whole in another encoding, as one comes to who asks for a part, isn't taken")
    func encodedWhole() async throws {
        server.cut(40_000)
        server.next({ _ in }, { $0 = .init(headers: ["ETag": "\"2\"", "Content-Encoding": "x-odd"], body: .bytes([1])) })
        #expect(await httpError { try await client().send(HTTPRequest(server.url)) }?.code == .connectionLost)
        #expect(ranges == [nil, "bytes=40000-"])
    }

    @Test("What isn't the rest of the same version, or isn't allowed, leaves the failure")
    func failures() async throws {
        func code(_ client: HTTPClient, _ request: HTTPRequest? = nil) async -> HTTPError.Code? {
            await httpError { try await client.send(request ?? HTTPRequest(server.url)) }?.code
        }
        server.cut(40_000)
        server.next({ _ in }, { $0.headers[.etag] = "\"2\"" })
        #expect(await code(client()) == .connectionLost)
        server.cut(40_000)
        server.next({ _ in }, { $0 = .init(status: 404) })
        #expect(await code(client()) == .connectionLost)
        server.cut(10, 10, 10)
        #expect(await code(client(2)) == .connectionLost)
        server.cut(10)
        #expect(await code(client(budget: RetryBudget(share: 0, reserve: 0))) == .connectionLost)
        server.cut(10)
        #expect(await code(client(), HTTPRequest(.post, server.url)) == .connectionLost)
        server.replace(Self.content, eTag: "W/\"1\"")
        server.cut(10)
        #expect(await code(client()) == .connectionLost)
        // By the cases above: 2, 2, 3, and 1 for each of the others.
        #expect(ranges.count == 10)
    }

    @Test("The limit of what is taken into memory holds, and streams stay streams")
    func limits() async throws {
        let small = testClient(configuration: .init(maximumBufferedBody: 99_999)) { ResumeBodies() }
        #expect(await httpError { try await small.send(HTTPRequest(server.url)) }?.code == .bodyTooLarge)
        let response = try await client().stream(HTTPRequest(server.url))
        #expect(response.body.bytes == nil)
        #expect(try await response.body.collect() == Self.content)
    }

    /// An answer of some bytes that claims to have others.
    private static func part(_ told: Range<Int>, of bytes: Range<Int>? = nil) -> @Sendable (inout MockServer.Response) -> Void {
        {
            $0 = .init(
                status: 206,
                headers: [
                    "ETag": "\"1\"", "Content-Range": "bytes \(told.lowerBound)-\(told.upperBound - 1)/100000",
                    "Transfer-Encoding": "chunked",
                ], body: .bytes(content[bytes ?? told]))
        }
    }

    @Test("After a part that is shorter than asked for, the rest is asked for")
    func shortParts() async throws {
        server.cut(40_000)
        server.next({ _ in }, Self.part(40_000..<70_000), Self.part(60_000..<90_000))
        #expect(try await client().send(HTTPRequest(server.url)).body.bytes == Self.content)
        #expect(ranges == [nil, "bytes=40000-", "bytes=70000-", "bytes=90000-"])
        // Bytes that are missing of what was told are asked for as well.
        server.cut(40_000)
        server.next({ _ in }, Self.part(40_000..<100_000, of: 40_000..<70_000))
        #expect(try await client().send(HTTPRequest(server.url)).body.bytes == Self.content)
    }

    @Test("Of a body of unknown length, parts are asked for until nothing is missing")
    func unknownLength() async throws {
        server.cut(40_000)
        server.next({ $0.headers[.transferEncoding] = "chunked" }) {
            $0 = .init(
                status: 206, headers: ["ETag": "\"1\"", "Content-Range": "bytes 40000-99999/*"],
                body: .bytes(Self.content[40_000...]))
        }
        #expect(try await client().send(HTTPRequest(server.url)).body.bytes == Self.content)
        #expect(ranges == [nil, "bytes=40000-", "bytes=100000-"])
    }

    @Test("What isn't a whole is an error")
    func contradictions() async throws {
        func code(_ limit: Int = 5, _ changes: @Sendable (inout MockServer.Response) -> Void...) async -> HTTPError.Code? {
            server.runFreely()
            server.cut(40_000)
            server.next { _ in }
            for change in changes { server.next(change) }
            return await httpError { try await client(limit).send(HTTPRequest(server.url)) }?.code
        }
        // Longer than told, by a Content-Length, and by the bytes that come.
        #expect(await code(5, Self.part(40_000..<96_000, of: 36_000..<100_000)) == .protocolViolation)
        #expect(
            await code(
                5,
                {
                    Self.part(40_000..<96_000, of: 36_000..<100_000)(&$0)
                    $0.headers[.transferEncoding] = nil
                }) == .protocolViolation)
        // Too short too often.
        #expect(await code(1, Self.part(40_000..<40_001)) == .protocolViolation)
        // A success that brings no representation.
        #expect(await code(5, { $0 = .init(status: 204) }) == .connectionLost)
        // The same strong tag for another length.
        #expect(
            await code(5, { $0 = .init(headers: ["ETag": "\"1\""], body: .bytes(Self.content[..<70_000])) }) == .protocolViolation
        )
        // Encoded bytes don't continue those that aren't.
        #expect(
            await code(
                5,
                {
                    Self.part(40_000..<100_000)(&$0)
                    $0.headers[.contentEncoding] = "gzip"
                }) == .connectionLost)
    }

    @Test("A refusal counts by its status, though its body is cut or too large", arguments: [401, 404], [true, false])
    func refusals(status: Int, isCut: Bool) async throws {
        server.next({
            $0 = .init(
                status: HTTPStatus(status), headers: [.wwwAuthenticate: "Bearer", .etag: "\"1\""], body: .bytes(Self.content),
                fault: isCut ? .disconnect(.insideBody(afterBytes: 40_000)) : nil)
        })
        var configuration = HTTPClient.Configuration()
        configuration.maximumBufferedBody = isCut ? 200_000 : 100_000 - 1
        let client = testClient(configuration: configuration) {
            ChainedHTTPInterceptor.bearer { $0 == nil ? "old" : "new" }
            ResumeBodies()
        }
        if status == 401 {
            server.next({ $0 = .init(body: "ok") })
            #expect(try await client.send(HTTPRequest(server.url)).body.bytes == Array("ok".utf8))
            #expect(server.requests.map { $0.headers[.authorization] } == ["Bearer old", "Bearer new"])
        } else {
            let error = await httpError { try await client.send(HTTPRequest(server.url)) }
            #expect(error?.code == .unacceptableStatus && error?.response?.status == .notFound)
        }
        #expect(ranges.allSatisfy { $0 == nil })
    }

    @Test("What the system has decoded isn't gone on with")
    func decodedUnseen() async throws {
        for status in [.ok, .partialContent] as [HTTPStatus] {
            server.cut(40_000)
            let client = testClient {
                ResumeBodies()
                ClosureResponseInterceptor(stage: .exchange) { response in
                    if response.status == status { response.isDecodedUnseen = true }
                }
            }
            #expect(await httpError { try await client.send(HTTPRequest(server.url)) }?.code == .connectionLost)
        }
        #expect(ranges == [nil, nil, "bytes=40000-"])
    }

    @Test("VerifyDigest's digest of the whole is that of what was joined", arguments: [true, false], [true, false])
    func digest(isRight: Bool, isBehindRest: Bool) async throws {
        let digest = try DigestAlgorithm.sha256.digest(of: isRight ? Self.content : [1])
        let field = DigestAlgorithm.sha256.field(digest)
        if isBehindRest {
            server.next({ _ in }, { $0.trailers = ["Repr-Digest": field] })
        } else {
            server.change { $0.headers["Repr-Digest"] = field }
        }
        server.cut(40_000)
        let client = testClient {
            ResumeBodies()
            VerifyDigest()
        }
        if isRight {
            #expect(try await client.send(HTTPRequest(server.url)).body.bytes == Self.content)
        } else {
            #expect(await httpError { try await client.send(HTTPRequest(server.url)) }?.code == .digestMismatch)
        }
        #expect(ranges == [nil, "bytes=40000-"])
    }
}
