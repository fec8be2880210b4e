import Foundation
import Interception
import Midstream
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamTool

@Suite("Progress on a terminal", .leavesNothing, .timeLimit(.minutes(10)))
struct ProgressTests {
    @Test("is gone at the end, also what was about to be shown then", arguments: [200, 404])
    func end(status: Int) async throws {
        let folder = try TemporaryFolder()
        let client = testClient(transport: StubTransport(status: HTTPStatus(status), body: .text("hello")))
        let (shown, isShowing, clearing) = (Locked<[String]>([]), Gate(), "\r\u{1B}[K")
        let result = await Result<HTTPResponse, any Error>.of {
            try await ProgressBar.showing { text in
                if text != clearing {
                    isShowing.open()
                    try? await untilCancelled()
                }
                shown.withLock { $0.append(text) }
            } _: { meter in
                let file = folder.url.appendingPathComponent("file")
                let answer = await Result<HTTPResponse, any Error>.of {
                    try await client.download(HTTPRequest("https://h/"), to: file, options: DownloadOptions(meter: meter))
                }
                await isShowing.wait()
                return try answer.get()
            }
        }
        let answered = try? result.get()
        #expect((answered?.status == .ok) == (status == 200))
        let texts = shown.withLock { $0 }
        #expect(texts.count > 1 && texts.last == clearing && !texts.dropLast().contains(clearing))
    }
}
