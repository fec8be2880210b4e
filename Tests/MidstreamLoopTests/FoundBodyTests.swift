#if os(Linux)
    import Foundation
    import MidstreamCore
    import MidstreamTransport
    import TestSupport
    import Testing

    @testable import MidstreamLoop

    @Suite(.leavesNothing) struct FoundBodyTests {
        private let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder() }

        /// The file may be on a server that doesn't answer, for which the loop's other requests would wait as well.
        @Test(arguments: [false, true]) func `A file is looked at before its loop has the request`(_ sendsFiles: Bool) throws {
            let file = try folder.file([UInt8](repeating: 1, count: 300_000))
            let loop = EventLoop(
                "files", Poller(), limits: TransferLimits(TransportConfiguration(), forwardsPlainRequests: false),
                admission: Admission(hostLimit: 0, totalLimit: 0), usesCallersThreads: false)
            let request = HTTPRequest(.put, "http://a/", body: .file(file))
            let transfer = Transfer(request, ExchangeOptions(), loop: loop, owner: loop)
            try FileManager.default.removeItem(at: file)
            #expect(try transfer.prepareChunks(sendsFiles: sendsFiles) == 300_000)
        }
    }
#endif
