import Foundation
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamTransfers

@Suite("The laws of interceptors hold for transfers", .timeLimit(.minutes(1)))
struct TransferLawTests {
    /// The body goes to the file, and one call at a time writes to it.
    @Test func downloads() async throws {
        let folder = try Folder()
        try await assertInterceptorLaws([.passesCancellation, .closesWhatItKeepsBack, .passesErrors, .plansWhatItDoes]) {
            DownloadInterceptor(file: folder.target, options: DownloadOptions(resumes: 0), random: { 0 }, now: { Date() })
        }
        #expect(folder.names == ["target.bin"])
    }
}
