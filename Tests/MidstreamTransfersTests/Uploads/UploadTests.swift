import Foundation
import Interception
import Midstream
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamTransfers

@Suite("Uploads that break off", .leavesNothing, .timeLimit(.minutes(10)))
struct UploadTests {
    private static let content = FileServer.content(300_000)

    private func client(
        _ clock: (any Clock<Duration>)? = nil, @PipelineBuilder interceptors: () -> [any HTTPInterceptor] = { [] }
    ) -> HTTPClient {
        let configuration = clock.map { HTTPClient.Configuration(timeout: nil, clock: $0, random: { 1 }) }
        return testClient(configuration: configuration ?? .init(random: { 0 }), interceptors: interceptors)
    }

    @discardableResult
    private func upload(
        _ server: UploadServer, _ content: UploadContent = .bytes(content), isTus: Bool = false, resumes: Int = 5,
        partSize: Int64? = nil
    ) async throws -> HTTPResponse {
        try await client().upload(
            content, to: server.url, headers: ["Authorization": "secret", "Idempotency-Key": "1"],
            protocol: isTus ? .tus : .resumable,
            resumes: resumes, partSize: partSize)
    }

    @Test("Where nothing breaks it is one request, as any other")
    func whole() async throws {
        let server = try UploadServer()
        let response = try await upload(server, .bytes(Self.content, contentType: "video/mp4"))
        #expect(response.status == .ok)
        #expect(server.content.elementsEqual(Self.content) && server.isComplete)
        let request = try #require(server.requests.first)
        #expect(server.requests.count == 1 && request.method == "POST")
        #expect(request.fields["upload-complete"] == "?1")
        #expect(request.fields["upload-draft-interop-version"] == "8")
        #expect(request.fields["upload-length"] == "300000")
        #expect(request.fields["content-length"] == "300000")
        #expect(request.fields["content-type"] == "video/mp4")
        // A server that knows nothing of it.
        let plain = try MockServer()
        plain.enqueue(.init(status: 201, body: "thanks"))
        #expect(try await client().upload(.bytes(Self.content), to: plain.url()).body.text == "thanks")
        #expect(try await plain.takeRequest().body == Self.content)
    }

    @Test("A server may say as often as it likes how much it has")
    func reports() async throws {
        let server = try UploadServer(.init(reports: 600))
        #expect(try await upload(server).status == .ok)
        #expect(server.content.elementsEqual(Self.content) && server.requests.count == 1)
    }

    @Test("Nothing can be uploaded, too", arguments: [true, false])
    func empty(isTus: Bool) async throws {
        let server = try UploadServer(.init(isTus: isTus))
        try await upload(server, .bytes([]), isTus: isTus)
        #expect(server.requests.count == 1 && server.content == [])
    }

    @Test("The rest follows from where the server is", arguments: [true, false])
    func resuming(isTus: Bool) async throws {
        let server = try UploadServer(.init(isTus: isTus, cuts: [100_000, 50_000, 1]))
        let response = try await upload(server, isTus: isTus)
        #expect(response.status.isSuccess)
        #expect(server.content.elementsEqual(Self.content))
        let patches = server.requests.filter { $0.method == "PATCH" }
        #expect(
            patches.map { $0.fields["upload-offset"] }
                == (isTus ? ["0", "100000", "150000", "150001"] : ["100000", "150000", "150001"]))
        #expect(patches.allSatisfy { $0.path == "/uploads/1" && $0.fields["authorization"] == "secret" })
        #expect(
            patches.allSatisfy {
                $0.fields["content-type"] == (isTus ? "application/offset+octet-stream" : "application/partial-upload")
            })
        #expect(
            patches.allSatisfy { $0.fields["upload-complete"] == (isTus ? nil : "?1") && $0.fields["idempotency-key"] == nil })
        #expect(server.requests.allSatisfy { ($0.fields["tus-resumable"] == "1.0.0") == isTus })
        #expect(response.trace.description.contains("resumed at 100000 of 300000 bytes"))
    }

    @Test("Files, and streams from any offset")
    func contents() async throws {
        let file = temporaryPath("upload-\(UUID().uuidString)")
        try Data(Self.content).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let stream = UploadContent.stream(length: 300_000) { offset in
            AsyncStream([UInt8].self) { continuation in
                // More than is wanted isn't sent.
                for start in stride(from: Int(offset), to: 300_000, by: 7_777) {
                    continuation.yield(Array(Self.content[start..<min(start + 7_777, 300_000)]))
                }
                continuation.yield([1, 2, 3])
                continuation.finish()
            }
        }
        for content: UploadContent in [.file(file), stream] {
            let server = try UploadServer(.init(cuts: [100_000, 50_000]))
            try await upload(server, content)
            #expect(server.content.elementsEqual(Self.content))
        }
        let missing = UploadContent.file(URL(fileURLWithPath: "/nowhere/at/all"))
        let server = try UploadServer()
        #expect(await httpError { try await upload(server, missing) }?.code == .bodyUnreadable)
        #expect(server.requests.isEmpty)
    }

    @Test("A file that has changed isn't gone on with, since the server would have a mixture", arguments: [true, false])
    func changedFile(isTus: Bool) async throws {
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        let file = try folder.file(Self.content)
        let server = try UploadServer(.init(isTus: isTus, cuts: [100_000]))
        let clock = TestClock()
        let client = client(clock)
        let uploading = Task {
            try await client.upload(.file(file), to: server.url, protocol: isTus ? .tus : .resumable)
        }
        // The pause before it goes on.
        await clock.waitForSleepers(1)
        try Data(Self.content.reversed()).write(to: file)
        // Whatever the time of the file system's clock.
        try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSince1970: 1)], ofItemAtPath: file.path)
        clock.advance(by: .milliseconds(500))
        #expect(await httpError { try await uploading.value }?.code == .bodyUnreadable)
        #expect(server.content.elementsEqual(Self.content.prefix(100_000)))
    }

    @Test("Nor is another file of the same length and time that has taken its place")
    func replacedFile() async throws {
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        let file = try folder.file(Self.content)
        let other = folder.url.appendingPathComponent("other")
        try Data(Self.content.reversed()).write(to: other)
        for url in [file, other] {
            try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSince1970: 1)], ofItemAtPath: url.path)
        }
        let server = try UploadServer(.init(isTus: true, cuts: [100_000]))
        let clock = TestClock()
        let client = client(clock)
        let uploading = Task { try await client.upload(.file(file), to: server.url, protocol: .tus) }
        await clock.waitForSleepers(1)
        #expect(rename(other.path, file.path) == 0)
        clock.advance(by: .milliseconds(500))
        #expect(await httpError { try await uploading.value }?.code == .bodyUnreadable)
    }

    @Test("In parts, by wish or since the server takes no more", arguments: [true, false])
    func parts(isWish: Bool) async throws {
        let server = try UploadServer(
            .init(cuts: isWish ? [] : [10_000], limit: isWish ? nil : "max-size=300000, max-append-size=100000"))
        try await upload(server, partSize: isWish ? 120_000 : nil)
        #expect(server.content.elementsEqual(Self.content) && server.isComplete)
        let patches = server.requests.filter { $0.method == "PATCH" }
        #expect(patches.map(\.bodyLength) == (isWish ? [120_000, 60_000] : [100_000, 100_000, 90_000]))
        #expect(patches.map { $0.fields["upload-complete"] } == (isWish ? ["?0", "?1"] : ["?0", "?0", "?1"]))
    }

    @Test("A 104 that is lost: the upload begins again, unless the server may have all of it")
    func lostPlace() async throws {
        let server = try UploadServer(.init(cuts: [100_000], sends104: false))
        try await upload(server)
        #expect(server.content.elementsEqual(Self.content))
        #expect(server.requests.map(\.method) == ["POST", "POST"])
        // All of it was sent, and nobody knows what became of it.
        let silent = try UploadServer(.init(cuts: [299_999], sends104: false))
        let error = await httpError {
            try await client().upload(.bytes(Self.content), to: silent.url, resumes: 1)
        }
        #expect(error?.code == .connectionLost || silent.requests.count == 2)
    }

    @Test("The server may have less than it had")
    func lostBytes() async throws {
        let server = try UploadServer(.init(cuts: [200_000], loses: 150_000))
        try await upload(server)
        #expect(server.content.elementsEqual(Self.content))
        #expect(server.requests.map { $0.fields["upload-offset"] } == [nil, nil, "50000"])
    }

    @Test(
        "Answers that may pass: the server is asked, and the rest is sent",
        arguments: [
            "HTTP/1.1 409 Conflict\nUpload-Offset: 5\n", "HTTP/1.1 500 Internal Server Error\n",
            "HTTP/1.1 503 Service Unavailable\n",
            "HTTP/1.1 429 Too Many Requests\n", "HTTP/1.1 423 Locked\n",
        ])
    func transientAnswers(answer: String) async throws {
        for isTus in [true, false] {
            // The first question, and the first addition.
            let server = try UploadServer(
                .init(isTus: isTus, cuts: [100_000], answers: [nil, answer, isTus ? nil : nil, answer]))
            try await upload(server, isTus: isTus)
            #expect(server.content.elementsEqual(Self.content))
        }
    }

    @Test("Any other answer is final", arguments: [400, 404, 410, 413])
    func finalAnswers(status: Int) async throws {
        for place in 0...2 {
            var answers = [String?](repeating: nil, count: place)
            answers.append("HTTP/1.1 \(status) No\n")
            let server = try UploadServer(.init(cuts: [100_000, 100_000], answers: answers))
            let error = await httpError { try await upload(server) }
            #expect(error?.code == .unacceptableStatus && error?.response?.status.code == status)
            #expect(server.requests.count == place + 1)
        }
    }

    @Test("A 5xx of what was uploaded is final, too")
    func failedProcessing() async throws {
        let server = try UploadServer(.init(cuts: [100_000], answers: [nil, nil, "HTTP/1.1 500 No\nUpload-Complete: ?1\n"]))
        #expect(await httpError { try await upload(server) }?.response?.status == .internalServerError)
        #expect(server.requests.count == 3)
    }

    @Test("Limits")
    func limits() async throws {
        let small = try UploadServer(.init(cuts: [100_000], limit: "max-size=299999"))
        #expect(await httpError { try await upload(small) }?.code == .bodyTooLarge)
        #expect(small.requests.count == 1)
        let strange = try UploadServer(.init(cuts: [100_000], limit: "max-append-size=0"))
        #expect(await httpError { try await upload(strange) }?.code == .protocolViolation)
        let clock = TestClock()
        let old = try UploadServer(.init(cuts: [100_000], limit: "max-age=0"))
        let (_, result) = await clock.waits(1) { try await client(clock).upload(.bytes(Self.content), to: old.url) }
        #expect(result.httpError?.code == .protocolViolation)
    }

    @Test(
        "Upload-Limit (a dictionary, RFC 9651 §3.2)",
        arguments: [
            ("max-size=1", 1, nil, nil), ("max-size=1, min-size=2;a=b, max-append-size=3,max-age=4", 1, 3, 4),
            ("other", nil, nil, nil),
            ("other=(a b), max-age=4", nil, nil, 4),
        ] as [(String, Int64?, Int64?, Int64?)])
    func limitField(text: String, size: Int64?, part: Int64?, age: Int64?) throws {
        let limit = try #require(UploadLimit(text))
        #expect(limit.maximumSize == size && limit.maximumPart == part && limit.maximumAge == age)
    }

    @Test(
        "… that can't be read",
        arguments: [
            "", "max-size", "max-size=", "max-size=-1", "max-size=1.5", "max-size=\"1\"", "max-size=99999999999999999999", "=1",
            "max-age=?1",
        ])
    func badLimitField(text: String) { #expect(UploadLimit(text) == nil) }

    @Test(
        "What the server says of the upload has to fit what was sent",
        arguments: ["100001", "300001", "-1", "x", "99999999999999999999"])
    func contradictions(claim: String) async throws {
        // What the transport has taken may be more than the server got before the cut.
        let server = try UploadServer(.init(cuts: [100_000], claims: claim))
        let content = UploadContent.stream(length: 300_000) { offset in
            AsyncStream([UInt8].self) { continuation in
                continuation.yield(Array(Self.content[Int(offset)..<100_000]))
                // The rest never comes.
            }
        }
        // The transport waits for the rest, and doesn't notice that the connection is gone.
        var request = HTTPRequest(.post, server.url)
        request.timeout = .seconds(1)
        let error = await httpError { [request] in try await client().upload(content, by: request) }
        #expect(error?.code == .protocolViolation)
        #expect(error?.message.contains("100000") == true)
    }

    @Test("A server that doesn't say how much it has")
    func noOffset() async throws {
        let server = try UploadServer(.init(cuts: [100_000], answers: [nil, "HTTP/1.1 204 No Content\n"]))
        #expect(await httpError { try await upload(server) }?.code == .protocolViolation)
        let tus = try UploadServer(.init(isTus: true, answers: ["HTTP/1.1 201 Created\n"]))
        #expect(await httpError { try await upload(tus, isTus: true) }?.code == .protocolViolation)
    }

    @Test("No more failures in a row than told; waits grow")
    func tooOften() async throws {
        let server = try UploadServer(.init(cuts: [1_000, 0, 0, 0, 0]))
        let clock = TestClock()
        let (delays, result) = await clock.waits(4) {
            try await client(clock).upload(.bytes(Self.content), to: server.url, resumes: 3)
        }
        #expect(delays == [.milliseconds(500), .milliseconds(500), .seconds(1), .seconds(2)])
        #expect(result.httpError?.code == .connectionLost)
    }

    @Test("Many cuts that each bring it further are no reason to give up")
    func manyCuts() async throws {
        let server = try UploadServer(.init(cuts: Array(repeating: 5_000, count: 50)))
        try await upload(server, resumes: 1)
        #expect(server.content.elementsEqual(Self.content))
    }

    @Test("Less than nothing can't be uploaded", arguments: [UploadProtocol.resumable, .tus])
    func negativeLength(kind: UploadProtocol) async {
        let stub = StubTransport(status: .ok)
        let content = UploadContent.stream(length: -1) { _ in HTTPBody.empty }
        let error = await httpError { try await testClient(transport: stub).upload(content, to: "http://h/", protocol: kind) }
        #expect(error?.code == .bodyUnreadable && stub.requests.isEmpty)
    }

    @Test(
        "An upload at another origin gets no credentials, whoever adds them",
        arguments: [nil, .attempt, .exchange] as [InterceptorStage?])
    func otherOrigin(stage: InterceptorStage?) async throws {
        let place = try MockServer()
        place.enqueue(
            .init(status: 204, headers: ["Upload-Offset": "0", "Upload-Complete": "?0"]),
            .init(headers: ["Upload-Complete": "?1"]))
        let server = try MockServer()
        server.enqueue(.init(status: 500, interim: [.init(status: 104, headers: ["Location": place.url("/1")])]))
        let client = client {
            if let stage { ClosureRequestInterceptor(stage: stage) { $0.headers[.authorization] = "secret" } }
        }
        try await client.upload(.bytes([1]), to: server.url(), headers: stage == nil ? ["Authorization": "secret"] : [:])
        #expect(server.requests.map { $0.headers[.authorization] } == ["secret"])
        #expect(place.requests.count == 2)
        #expect(place.requests.allSatisfy { $0.headers[.authorization] == nil })
        #expect(place.requests.last?.body == [1])
    }

    @Test("Cancelling it ends it")
    func cancelled() async throws {
        let server = try UploadServer()
        let waiting = AsyncStream.makeStream(of: Void.self)
        let content = UploadContent.stream(length: 300_000) { _ in
            AsyncStream([UInt8].self) { continuation in
                continuation.yield([1])
                waiting.continuation.yield()
            }
        }
        let task = Task { try await upload(server, content) }
        for await _ in waiting.stream { break }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    /// A server that gives the same answer to all additions.
    private func server(_ patch: HTTPHeaders, _ head: HTTPHeaders) throws -> MockServer {
        let server = try MockServer()
        server.respond { [server] request in
            // So that a client that asks for ever ends, too.
            if server.requests.count > 100 { return .init(status: 400) }
            return switch request.method {
            case "POST": .init(status: 201, headers: ["Location": "/1", "Upload-Complete": "?0"])
            case "HEAD": .init(status: 204, headers: head)
            default: .init(status: 204, headers: patch)
            }
        }
        return server
    }

    @Test(
        "An answer that brings nothing further counts as a failure, with its pause",
        arguments: [
            (["Upload-Offset": "300000", "Upload-Complete": "?0"], "300000", UploadProtocol.resumable),
            (["Upload-Offset": "0", "Upload-Complete": "?0"], "0", .resumable),
            (["Upload-Offset": "0"], "0", .tus), ([:], "0", .tus),
        ] as [(HTTPHeaders, String, UploadProtocol)])
    func nothingFurther(patch: HTTPHeaders, offset: String, kind: UploadProtocol) async throws {
        let server = try server(patch, ["Upload-Offset": offset, "Upload-Complete": "?0"])
        defer { server.shutdown() }
        let clock = TestClock()
        let (delays, result) = await clock.waits(10) {
            try await client(clock).upload(.bytes(Self.content), to: server.url(), protocol: kind, resumes: 3)
        }
        #expect(result.httpError?.code == .protocolViolation)
        #expect(delays == [.milliseconds(500), .seconds(1), .seconds(2)])
        #expect(server.requests.filter { $0.method == "PATCH" }.count == 4)
    }

    @Test("A server that has less than it has confirmed")
    func backwards() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        let offsets = Locked([0, 100_000, 50_000])
        server.respond { [server] request in
            if server.requests.count > 100 { return .init(status: 400) }
            if request.method == "POST" { return .init(status: 201, headers: ["Location": "/1", "Upload-Complete": "?0"]) }
            let offset = offsets.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
            return .init(status: 204, headers: ["Upload-Offset": "\(offset)", "Upload-Complete": "?0"])
        }
        let error = await httpError { try await client().upload(.bytes(Self.content), to: server.url()) }
        #expect(error?.code == .protocolViolation)
        #expect(server.requests.map(\.method) == ["POST", "HEAD", "PATCH", "PATCH"])
    }

    @Test("Success is that all bytes are confirmed", arguments: ["POST", "HEAD", "PATCH"])
    func falseSuccess(method: String) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.respond { request in
            let claim: HTTPHeaders = ["Location": "/1", "Upload-Offset": "100", "Upload-Complete": "?1"]
            if request.method.rawValue == method { return .init(status: request.method == "HEAD" ? 204 : 200, headers: claim) }
            return .init(
                status: request.method == "HEAD" ? 204 : 201,
                headers: ["Location": "/1", "Upload-Complete": "?0", "Upload-Offset": "50"])
        }
        for size in [Int64?.none, 100_000] {
            let error = await httpError {
                try await client().upload(.bytes(Self.content), to: server.url(), resumes: 1, partSize: size)
            }
            #expect(error?.code == .protocolViolation)
        }
    }

    @Test("A success that comes before the bytes confirms none of them")
    func earlySuccess() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init(status: 200, early: true))
        let content = UploadContent.stream(length: 300_000) { _ in AsyncStream([UInt8].self) { $0.yield([1]) } }
        let error = await httpError { try await client().upload(content, to: server.url()) }
        #expect(error?.code == .protocolViolation)
        #expect(error?.message.contains("of 300000 bytes") == true)
    }

    @Test("… and the server is asked, if it has told where the upload is")
    func earlySuccesses() async throws {
        let early = Locked<Set<HTTPMethod>>([.post, .patch])
        let stub = StubTransport { request in
            if early.withLock({ $0.remove(request.method) }) != nil {
                return HTTPResponse(status: .ok, headers: [.location: "/1"], request: request)
            }
            _ = try await request.body.collect()
            let state: HTTPHeaders = ["Upload-Offset": "0", "Upload-Complete": "?0"]
            return HTTPResponse(status: .noContent, headers: request.method == .head ? state : [:], request: request)
        }
        let client = testClient(configuration: .init(random: { 0 }), transport: stub)
        try await client.upload(.bytes([1]), to: "https://h/uploads")
        #expect(stub.requests.map(\.method) == [.post, .head, .patch, .head, .patch])
    }

    @Test("tus: an addition that nothing is told about is asked about")
    func tusWithoutOffset() async throws {
        let server = try server([:], ["Upload-Offset": "300000"])
        defer { server.shutdown() }
        try await client().upload(.bytes(Self.content), to: server.url(), protocol: .tus)
        #expect(server.requests.map(\.method) == ["POST", "PATCH", "HEAD"])
    }

    @Test("What began with https doesn't go on in clear text", arguments: [UploadProtocol.tus, .resumable])
    func downgrade(kind: UploadProtocol) async throws {
        for isInterim in [true, false] where kind == .resumable || !isInterim {
            let stub = StubTransport { request in
                let place: HTTPHeaders = ["Location": "http://h/uploads/1"]
                guard isInterim else {
                    return HTTPResponse(
                        status: 201, headers: ["Location": "http://h/uploads/1", "Upload-Complete": "?0"], request: request)
                }
                request.onInterim?(InterimResponse(status: 104, headers: place))
                throw HTTPError(.connectionLost, request: request)
            }
            let client = testClient(configuration: .init(random: { 0 }), transport: stub)
            let error = await httpError {
                try await client.upload(.bytes([1]), to: "https://h/uploads", protocol: kind, resumes: 2)
            }
            #expect(error?.code == (isInterim ? .connectionLost : .protocolViolation))
            #expect(stub.requests.allSatisfy { $0.urlText == "https://h/uploads" })
        }
    }
}
