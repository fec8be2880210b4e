import Foundation
import Interception
import Midstream
import MidstreamSigning
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamTransfers

@Suite("Downloads that break off", .leavesNothing, .timeLimit(.minutes(10)))
struct DownloadTests {
    static let content = FileServer.content(200_000)
    let server: FileServer
    let folder: TemporaryFolder

    init() throws {
        server = try FileServer(Self.content)
        folder = try TemporaryFolder()
    }

    @discardableResult
    func download(_ options: DownloadOptions = .init(), by client: HTTPClient? = nil) async throws -> HTTPResponse {
        try await (client ?? server.client()).download(HTTPRequest(server.url), to: folder.target, options: options)
    }

    private func breakOff(isLengthTold: Bool = true) async {
        if !isLengthTold { server.next({ $0.headers[.transferEncoding] = "chunked" }) }
        server.cut(70_000)
        _ = await httpError { try await download(.init(resumes: 0)) }
    }

    private var ranges: [String?] { server.requests.map { $0.headers[.range] } }

    @Test("A whole file takes one request, and leaves nothing else")
    func whole() async throws {
        let response = try await download()
        #expect(folder.content == Self.content)
        #expect(folder.names == ["target.bin"])
        #expect(response.status == .ok && response.body.bytes == [] && response.metrics?.total != nil)
        #expect(ranges == [nil])
        #expect(server.requests[0].headers[.acceptEncoding] == "identity")
        // Its permissions are those of any file that is made.
        let other = folder.url.appendingPathComponent("other")
        try Data().write(to: other)
        let permissions = try [folder.target, other].map {
            try FileManager.default.attributesOfItem(atPath: $0.path)[.posixPermissions] as? Int
        }
        #expect(permissions[0] == permissions[1])
    }

    @Test("An empty file")
    func empty() async throws {
        server.replace([], eTag: "\"1\"")
        try await download()
        #expect(folder.content == [])
    }

    @Test("The rest is asked for, if it is of the same version")
    func resuming() async throws {
        server.cut(50_000, 30_000)
        let response = try await download()
        #expect(folder.content == Self.content)
        #expect(folder.names == ["target.bin"])
        #expect(ranges == [nil, "bytes=50000-", "bytes=80000-"])
        #expect(server.requests.map { $0.headers[.ifRange] } == [nil, "\"1\"", "\"1\""])
        // It is the head of a whole, as without a break.
        #expect(response.status == .ok && response.headers[.contentRange] == nil)
        #expect(response.headers[.contentLength] == "200000" && response.headers[.etag] == "\"1\"")
        let trace = response.trace.description
        #expect(trace.contains("broke off after 50000 bytes: connectionLost"))
        #expect(trace.contains("resumed at 80000 of 200000 bytes, If-Range matched"))
    }

    @Test("By a date when there is no tag, and it is old enough")
    func date() async throws {
        let (old, new) = ("Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 09:49:37 GMT")
        server.change { $0.headers = ["Last-Modified": old, "Date": new] }
        server.cut(50_000)
        server.next(
            { _ in },
            {
                $0 = .init(
                    status: 206, headers: ["Content-Range": "bytes 50000-199999/200000"], body: .bytes(Self.content[50_000...]))
            })
        try await download()
        #expect(server.requests.map { $0.headers[.ifRange] } == [nil, old])
        #expect(folder.content == Self.content)
    }

    @Test("A version that has changed is loaded as a whole", arguments: [10_000, 300_000])
    func replaced(length: Int) async throws {
        let other = FileServer.content(length, seed: 2)
        server.cut(50_000)
        server.next(
            { _ in },
            { [server] in
                server.replace(other, eTag: "\"2\"")
                $0 = .init(headers: ["ETag": "\"2\""], body: .bytes(other))
            })
        try await download()
        #expect(folder.content == other)
        #expect(ranges == [nil, "bytes=50000-"])
    }

    @Test("Without a validator that is strong nothing is left, and the next download starts again", arguments: [nil, "W/\"1\""])
    func noValidator(eTag: String?) async throws {
        server.replace(Self.content, eTag: eTag)
        server.cut(50_000)
        #expect(await httpError { try await download() }?.code == .connectionLost)
        #expect(folder.names.isEmpty)
        try await download()
        #expect(folder.content == Self.content)
        #expect(ranges == [nil, nil])
    }

    @Test("No more often than told, with waits that grow; then it is left for later")
    func limit() async throws {
        server.cut(1_000, 1_000, 1_000, 1_000)
        let clock = TestClock()
        let client = testClient(configuration: .init(timeout: nil, clock: clock, random: { 1 }))
        let (delays, result) = await clock.waits(3) { try await download(.init(resumes: 3), by: client) }
        #expect(delays == [.milliseconds(500), .seconds(1), .seconds(2)])
        #expect(result.httpError?.code == .connectionLost)
        #expect(folder.names == [".target.bin.midstream-part", ".target.bin.midstream-part.json"])
        try await download(by: client)
        #expect(ranges.last == "bytes=4000-")
        #expect(folder.content == Self.content && folder.names == ["target.bin"])
    }

    @Test("A later download goes on, whatever became of the first", arguments: [true, false])
    func later(isReplaced: Bool) async throws {
        try Data("old".utf8).write(to: folder.target)
        server.cut(70_000)
        let error = await httpError { try await download(.init(resumes: 0)) }
        #expect(error?.code == .connectionLost)
        #expect(folder.content == Array("old".utf8))
        for file in [folder.part, folder.record] {
            #expect(try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int == 0o600)
        }
        let other = FileServer.content(100_000, seed: 2)
        if isReplaced { server.replace(other, eTag: "\"2\"") }
        try await download()
        #expect(ranges == [nil, "bytes=70000-"])
        #expect(folder.content == (isReplaced ? other : Self.content))
        #expect(folder.names == ["target.bin"])
    }

    @Test("… but not of another URL, nor with what has been changed by others")
    func unusable() async throws {
        await breakOff()
        try await server.client().download(HTTPRequest(server.url + "?other"), to: folder.target)
        await breakOff()
        try Data("{}".utf8).write(to: folder.record)
        try await download()
        await breakOff()
        try FileManager.default.removeItem(at: folder.record)
        try await download()
        await breakOff()
        try FileManager.default.removeItem(at: folder.record)
        try #require(mkfifo(folder.record.path, 0o600) == 0)
        try await download()
        await breakOff()
        try Data().write(to: folder.part)
        try await download()
        await breakOff()
        try Data(count: 200_001).write(to: folder.part)
        try await download()
        #expect(ranges.allSatisfy { $0 == nil })
        #expect(folder.content == Self.content)
    }

    @Test("What was complete but for its name isn't loaded again", arguments: [true, false])
    func complete(isLengthTold: Bool) async throws {
        await breakOff(isLengthTold: isLengthTold)
        try Data(Self.content).write(to: folder.part)
        let response = try await download()
        #expect(response.status == .ok && response.headers[.contentLength] == "200000")
        #expect(folder.content == Self.content && folder.names == ["target.bin"])
        #expect(ranges == (isLengthTold ? [nil, "bytes=199999-"] : [nil, "bytes=200000-", "bytes=199999-"]))
    }

    @Test("… but is checked, if the server tells its digest", arguments: [true, false])
    func completeAndWrong(isLengthTold: Bool) async throws {
        let digest = try DigestAlgorithm.sha256.field(DigestAlgorithm.sha256.digest(of: Self.content))
        server.change { $0.headers["Repr-Digest"] = digest }
        await breakOff(isLengthTold: isLengthTold)
        try Data(Self.content.reversed()).write(to: folder.part)
        #expect(await httpError { try await download(by: server.client { VerifyDigest() }) }?.code == .digestMismatch)
        #expect(folder.names.isEmpty)
    }

    @Test("A secret of the URL isn't kept, nor does another one make a difference")
    func secret() async throws {
        server.cut(70_000)
        _ = await httpError {
            try await server.client().download(
                HTTPRequest(server.url + "?token=s3cret"), to: folder.target, options: .init(resumes: 0))
        }
        #expect(try !String(contentsOf: folder.record, encoding: .utf8).contains("s3cret"))
        try await server.client().download(HTTPRequest(server.url + "?token=other"), to: folder.target)
        #expect(ranges == [nil, "bytes=70000-"])
    }

    @Test(
        "Nor does a URL that is presigned anew",
        arguments: [
            "versionId=7&X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=a&X-Amz-Date=~&X-Amz-Expires=60&X-Amz-Signature=~"
                + "&X-Amz-Security-Token=~",
            "X-Goog-Credential=a&X-Goog-Date=~&X-Goog-Expires=60&generation=7&X-Goog-Signature=~",
            "sp=r&st=~&se=~&skt=~&ske=~&sv=2022&sig=~",
            "Expires=~&Signature=~", "Policy=~&Signature=~&Key-Pair-Id=K",
        ])
    func presigned(query: String) async throws {
        for (time, isLost) in [("20250101T000000Z", true), ("20250102T000000Z", false)] {
            if isLost { server.cut(70_000) }
            let url = server.url + "?" + query.replacingOccurrences(of: "~", with: time)
            _ = try? await server.client().download(HTTPRequest(url), to: folder.target, options: .init(resumes: 0))
        }
        #expect(ranges == [nil, "bytes=70000-"])
        #expect(folder.content == Self.content)
    }

    @Test(
        "… unless something else in it differs",
        arguments: ["X-Amz-Signature=s&versionId=~", "st=~&se=~", "sig=k&st=~", "Expires=~"])
    func presignedForOther(query: String) async throws {
        for (value, isLost) in [("1", true), ("2", false)] {
            if isLost { server.cut(70_000) }
            let url = server.url + "?" + query.replacingOccurrences(of: "~", with: value)
            _ = try? await server.client().download(HTTPRequest(url), to: folder.target, options: .init(resumes: 0))
        }
        #expect(ranges == [nil, nil])
    }

    @Test("Never, if that is what is wanted")
    func never() async throws {
        server.cut(70_000)
        #expect(await httpError { try await download(.init(isResumable: false)) }?.code == .connectionLost)
        #expect(folder.names.isEmpty)
        #expect(ranges == [nil])
        #expect(server.requests[0].headers[.acceptEncoding] != "identity")
    }

    @Test("One download at a time writes to a file")
    func locked() async throws {
        let other = try PartFile(replacing: folder.target)
        let error = await httpError { try await download() }
        #expect(error?.code == .fileInUse && error?.phase == .notSent)
        #expect(server.requests.isEmpty)
        try withExtendedLifetime(other) { try other.complete(isSynchronized: true) }
    }

    @Test("A status that is no file ends it, and what is there stays for later")
    func rejected() async throws {
        server.cut(70_000)
        server.next({ _ in }, { $0 = .init(status: 404) })
        #expect(await httpError { try await download() }?.code == .unacceptableStatus)
        #expect(folder.names.count == 2)
        try await download()
        #expect(ranges == [nil, "bytes=70000-", "bytes=70000-"])
        #expect(folder.content == Self.content)
    }

    @Test("A status that may pass is waited for")
    func transientStatus() async throws {
        server.cut(70_000)
        server.next({ _ in }, { $0 = .init(status: 503) }, { $0 = .init(status: 502) })
        try await download()
        #expect(folder.content == Self.content)
    }

    @Test("The first answer is the arbiter's matter")
    func firstFailure() async throws {
        server.next({ $0 = .init(status: 503) })
        #expect(await httpError { try await download() }?.code == .unacceptableStatus)
        #expect(folder.names.isEmpty && ranges.count == 1)
    }

    @Test("A cancelled download stays for later")
    func cancelled() async throws {
        let reading = AsyncStream.makeStream(of: Void.self)
        let stalling = server.client {
            ClosureResponseInterceptor { response in
                response.body = response.body.observed(onChunk: { _ in reading.continuation.yield() }, onEnd: { _ in })
            }
        }
        server.next({ $0.fault = .stall(.insideBody(afterBytes: 100_000)) })
        let task = Task { try await download(by: stalling) }
        for await _ in reading.stream { break }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(folder.names.count == 2)
        try await download()
        #expect(folder.content == Self.content)
        #expect(ranges.last.flatMap { $0 }?.hasPrefix("bytes=") == true)
    }

    @Test("There has to be room for what is announced")
    func noRoom() async throws {
        try Data("old".utf8).write(to: folder.target)
        server.next({ $0.fault = .wrongContentLength(declared: 1 << 58) })
        let error = await httpError { try await download() }
        #expect(error?.code == .fileUnwritable)
        #expect(folder.content == Array("old".utf8) && folder.names == ["target.bin"])
    }

    @Test("Digests: of the file when it is complete")
    func digest() async throws {
        let digest = try DigestAlgorithm.sha256.digest(of: Self.content)
        server.cut(70_000)
        try await download(.init(digest: .sha256(digest), isSynchronized: true))
        #expect(folder.content == Self.content)
        try Data("old".utf8).write(to: folder.target)
        server.cut(70_000)
        let error = await httpError { try await download(.init(digest: .sha256(Array(digest.reversed())))) }
        #expect(error?.code == .digestMismatch)
        #expect(folder.content == Array("old".utf8) && folder.names == ["target.bin"])
    }

    @Test("The server's digest of the whole is that of what came, also in parts", arguments: [true, false], [true, false])
    func representationDigest(isRight: Bool, isCut: Bool) async throws {
        let digest = try DigestAlgorithm.sha256.digest(of: isRight ? Self.content : [1])
        server.change { $0.headers["Repr-Digest"] = DigestAlgorithm.sha256.field(digest) }
        if isCut { server.cut(70_000) }
        let client = server.client { VerifyDigest() }
        if isRight {
            try await download(by: client)
            #expect(folder.content == Self.content)
        } else {
            #expect(await httpError { try await download(by: client) }?.code == .digestMismatch)
            #expect(folder.names.isEmpty)
        }
        #expect(ranges == (isCut ? [nil, "bytes=70000-"] : [nil]))
    }

    @Test("… also when it comes behind the rest")
    func representationDigestBehindRest() async throws {
        let wrong = try DigestAlgorithm.sha256.field(DigestAlgorithm.sha256.digest(of: [1]))
        server.cut(70_000)
        server.next({ _ in }, { $0.trailers = ["Repr-Digest": wrong] })
        let client = server.client { VerifyDigest() }
        #expect(await httpError { try await download(by: client) }?.code == .digestMismatch)
        #expect(ranges == [nil, "bytes=70000-"] && folder.names.isEmpty)
    }

    @Test("… also when it came with a whole in place of the rest, and that broke off")
    func representationDigestOfOtherVersion() async throws {
        let other = FileServer.content(200_000, seed: 2)
        let wrong = try DigestAlgorithm.sha256.field(DigestAlgorithm.sha256.digest(of: [1]))
        server.cut(70_000)
        server.next(
            { _ in },
            { [server] in
                server.replace(other, eTag: "\"2\"")
                $0 = .init(headers: ["ETag": "\"2\"", "Repr-Digest": wrong], body: .bytes(other))
                $0.fault = .disconnect(.insideBody(afterBytes: 50_000))
            })
        let client = server.client { VerifyDigest() }
        #expect(await httpError { try await download(by: client) }?.code == .digestMismatch)
        #expect(ranges == [nil, "bytes=70000-", "bytes=50000-"])
        #expect(folder.names.isEmpty)
    }

    @Test("… but not that of a range that the request asked for by itself")
    func representationDigestOfOwnRange() async throws {
        let digest = try DigestAlgorithm.sha256.digest(of: Self.content)
        server.change { $0.headers["Repr-Digest"] = DigestAlgorithm.sha256.field(digest) }
        let client = server.client { VerifyDigest() }
        try await client.download(HTTPRequest(server.url, headers: ["Range": "bytes=5-9"]), to: folder.target)
        #expect(folder.content == Array(Self.content[5...9]))
    }

    @Test("A state as a killed process leaves it, at any moment, is gone on with or started again; never is it mixed")
    func killed() async throws {
        for round in 0..<40 {
            let (old, new) = (FileServer.content(100_000, seed: 3), FileServer.content(Int.random(in: 90_000..<110_000), seed: 4))
            server.replace(old, eTag: "\"old\"")
            let target = try TemporaryFolder()
            let snapshot = try TemporaryFolder()
            let place = Int.random(in: 0..<100_000)
            let seen = Locked(0)
            let client = server.client {
                ClosureResponseInterceptor { response in
                    response.body = response.body.mapChunks { chunk in
                        let isThere = seen.withLock { seen in
                            defer { seen += chunk.count }
                            return seen <= place && place < seen + chunk.count
                        }
                        if isThere {
                            for (from, to) in [(target.part, snapshot.part), (target.record, snapshot.record)] {
                                try? FileManager.default.copyItem(at: from, to: to)
                            }
                        }
                        return chunk
                    }
                }
            }
            try await client.download(HTTPRequest(server.url), to: target.target)
            if round % 2 == 0 { server.replace(new, eTag: "\"new\"") }
            try await client.download(HTTPRequest(server.url), to: snapshot.target)
            #expect(snapshot.content == (round % 2 == 0 ? new : old))
        }
    }

    @Test("Only 200 and 206 are a file", arguments: [201, 202, 203, 204])
    func otherSuccesses(status: Int) async throws {
        try Data("old".utf8).write(to: folder.target)
        server.next({ $0 = .init(status: HTTPStatus(status), body: status == 204 ? .empty : "accepted") })
        #expect(await httpError { try await download() }?.code == .unacceptableStatus)
        #expect(folder.content == Array("old".utf8) && folder.names == ["target.bin"])
    }

    @Test("An answer from outside of the download, of which no file is made, is no success")
    func answeredOutside() async throws {
        let offline = server.client {
            ClosureHTTPInterceptor(stage: .call) { request, _ in
                HTTPResponse(status: .ok, body: .text("kept"), request: request)
            }
        }
        #expect(await httpError { try await download(by: offline) }?.code == .fileUnwritable)
        #expect(folder.names.isEmpty && server.requests.isEmpty)
    }

    @Test("The same strong tag for another length is an error, and what was there isn't used again", arguments: [true, false])
    func sameTag(isLengthTold: Bool) async throws {
        server.cut(70_000)
        server.next({ _ in }) {
            $0 = .init(headers: ["ETag": "\"1\""], body: .bytes(Self.content[..<100_000]))
            if !isLengthTold { $0.headers[.transferEncoding] = "chunked" }
        }
        #expect(await httpError { try await download(.init(resumes: 1)) } != nil)
        #expect(folder.content == nil)
        try await download()
        #expect(folder.content == Self.content)
    }
}
