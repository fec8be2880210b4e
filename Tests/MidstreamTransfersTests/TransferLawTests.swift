import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamTransfers

@Suite("The laws of interceptors hold for transfers", .leavesNothing, .timeLimit(.minutes(10)))
struct TransferLawTests {
    /// The body goes to the file, and one call at a time writes to it.
    @Test func downloads() async throws {
        let folder = try TemporaryFolder()
        try await assertInterceptorLaws([.passesCancellation, .closesWhatItKeepsBack, .passesErrors, .plansWhatItDoes]) {
            DownloadInterceptor(file: folder.target, options: DownloadOptions(resumes: 0))
        }
        #expect(folder.names == ["target.bin"])
    }

    /// It sends a content of its own in place of the request's body.
    @Test func uploads() async throws {
        let laws = Set(InterceptorLaw.allCases).subtracting([.preservesBodies])
        let bytes = (0..<2_000).map { UInt8($0 % 256) }
        var request = HTTPRequest(.post, "http://laws.test/")
        request.interceptors.append(UploadCounter())
        try await assertInterceptorLaws(laws, request: request) {
            UploadInterceptor(content: .bytes(bytes), protocol: .resumable, resumes: 0, partSize: nil, meter: nil)
        }
    }

    @Test func countedUploads() async throws {
        var request = HTTPRequest("http://laws.test/")
        request.uploadObserver = { _ in HTTPBody.Observer { _ in } }
        try await assertInterceptorLaws(request: request) { UploadCounter() }
    }

    @Test func bodiesInMemory() async throws {
        try await assertInterceptorLaws { ResumeBodies() }
    }
}
