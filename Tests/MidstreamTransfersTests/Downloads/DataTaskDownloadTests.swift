import Foundation
import Interception
import Midstream
import MidstreamTesting
import TestSupport
import Testing

@Suite(.leavesNothing) struct DataTaskDownloadTests {
    private let chunks: [[UInt8]] = [[1, 2], [UInt8](repeating: 3, count: 300_000), [4]]
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func streaming(_ chunks: AsyncThrowingStream<[UInt8], any Error>, status: HTTPStatus = .ok) -> HTTPClient {
        client(StubTransport { HTTPResponse(status: status, body: .once(chunks), request: $0) })
    }

    private func client(_ stub: StubTransport) -> HTTPClient { testClient(baseURL: "https://example.com", transport: stub) }

    private func finished(_ error: (any Error)? = nil) -> AsyncThrowingStream<[UInt8], any Error> {
        AsyncThrowingStream { continuation in
            for chunk in chunks { continuation.yield(chunk) }
            continuation.finish(throwing: error)
        }
    }

    @Test func theBodyIsWrittenAndNothingElseIsLeft() async throws {
        let head = try await streaming(finished()).get("a").download(to: folder.target)
        #expect(head.status == .ok)
        #expect(folder.content == chunks.flatMap { $0 })
        #expect(folder.names == ["target.bin"])
    }

    @Test func aFileThatIsThereIsReplaced() async throws {
        try Data("old".utf8).write(to: folder.target)
        try await streaming(finished()).get("a").download(to: folder.target)
        #expect(folder.content?.count == 300_003)
        #expect(folder.names == ["target.bin"])
    }

    @Test func aBrokenTransferLeavesTheTargetAsItWas() async throws {
        try Data("old".utf8).write(to: folder.target)
        let error = await httpError {
            try await streaming(finished(HTTPError(.connectionLost))).get("a").download(to: folder.target)
        }
        #expect(error?.code == .connectionLost)
        #expect(folder.content == Array("old".utf8))
        #expect(folder.names == ["target.bin"])
    }

    @Test(arguments: [1, 4]) func theProgressIsTheFilesWhicheverAnswerBringsIt(parallel: Int) async throws {
        let content = FileServer.blocks(320)
        let server = try FileServer(content)
        server.cut(70_000)
        let updates = Locked<[TransferProgress]>([])
        try await server.client().get(server.url).download(to: folder.target, options: .init(parallel: parallel)) { update in
            updates.withLock { $0.append(update) }
        }
        let bytes = updates.withLock { $0.map(\.bytes) }
        #expect(server.requests.count > 1 && folder.content == content)
        #expect(zip(bytes, bytes.dropFirst()).allSatisfy { $0 <= $1 })
        #expect(bytes.first == 0 && bytes.last == Int64(content.count))
        #expect(updates.withLock { $0.allSatisfy { $0.total == Int64(content.count) } })
    }

    @Test func anEmptyFileIsAWholeOne() async throws {
        let server = try FileServer([])
        let last = Locked<TransferProgress?>(nil)
        try await server.client().get(server.url).download(to: folder.target) { update in last.withLock { $0 = update } }
        #expect(folder.content == [] && last.withLock { $0?.fraction } == 1)
    }

    @Test func aRejectedStatusWritesNothing() async throws {
        let error = await httpError { try await streaming(finished(), status: 404).get("a").download(to: folder.target) }
        #expect(error?.code == .unacceptableStatus)
        #expect(folder.names.isEmpty)
    }

    @Test func aSuccessThatIsNoFileIsAnErrorWithTheBodyOfTheAnswer() async throws {
        let early = client(StubTransport { HTTPResponse(status: 202, body: .once(HTTPBody.text("preparing")), request: $0) })
        let error = await httpError { try await early.get("a").download(to: folder.target) }
        #expect(error?.code == .unacceptableStatus && error?.response?.body.text == "preparing")
        let long = await httpError { try await streaming(finished(), status: 202).get("a").download(to: folder.target) }
        #expect(long?.message.contains("still to be read") == true)
        #expect(try await long?.response?.body.collect() == chunks.flatMap { $0 })
        #expect(folder.names.isEmpty)
    }

    @Test func aCancelledTransferLeavesNothing() async throws {
        let (chunks, continuation) = AsyncThrowingStream<[UInt8], any Error>.makeStream()
        let (reading, isReading) = AsyncStream<Void>.makeStream()
        let client = self.client(
            StubTransport { request in
                let body = HTTPBody.stream {
                    chunks.map { chunk in
                        isReading.yield()
                        return chunk
                    }
                }
                return HTTPResponse(status: .ok, body: body, request: request)
            })
        let target = folder.target
        let running = Task { try await client.get("a").download(to: target) }
        continuation.yield([1])
        for await _ in reading { break }
        running.cancel()
        continuation.finish(throwing: CancellationError())
        await #expect(throws: CancellationError.self) { try await running.value }
        #expect(folder.names.isEmpty)
    }

    @Test func aPlaceThatCannotBeWrittenToIsFoundOutBeforeAnythingIsSent() async throws {
        let stub = StubTransport.ok
        let task = client(stub).get("a")
        let missing = folder.url.appendingPathComponent("missing/target.bin")
        for url in [missing, try #require(URL(string: "https://example.com/"))] {
            let error = await httpError { try await task.download(to: url) }
            #expect(error?.code == .fileUnwritable)
            #expect(error?.phase == .notSent)
        }
        #expect(stub.requests.isEmpty)
        #expect(folder.names.isEmpty)
    }

    @Test func aFolderIsNoFileToWriteTo() async throws {
        let stub = StubTransport.ok
        let error = await httpError { try await client(stub).get("a").download(to: folder.url) }
        #expect(error?.code == .fileUnwritable && error?.message.contains("is a folder") == true)
        #expect(stub.requests.isEmpty && folder.names.isEmpty)
    }

    @Test func whatHasNoRoomOnTheDiskIsRefusedWhenItsLengthIsKnown() async throws {
        let body = HTTPBody.stream(length: .max) {
            AsyncStream<[UInt8]> { continuation in
                continuation.yield([1])
                continuation.finish()
            }
        }
        let client = self.client(StubTransport { HTTPResponse(status: .ok, body: body, request: $0) })
        let error = await httpError { try await client.get("a").download(to: folder.target) }
        #expect(error?.code == .fileUnwritable && error?.message.contains("are free") == true)
        #expect(folder.names.isEmpty)
    }
}
