#if os(Linux)
    import Foundation
    import Midstream
    import MidstreamTesting
    import TestSupport
    import Testing

    @testable import MidstreamTransfers

    private let environment = ProcessInfo.processInfo.environment

    /// The tests' own program, run again for one of them alone, and killed.
    @Suite("Downloads whose process is killed", .leavesNothing, .timeLimit(.minutes(30)))
    struct KilledDownloadTests {
        /// How often, and how much is loaded: more of both by these variables.
        private static let rounds = environment["MIDSTREAM_KILLS"].flatMap { Int($0) } ?? 6
        private static let blocks = environment["MIDSTREAM_KILL_BLOCKS"].flatMap { Int($0) } ?? 64

        @Test("What runs in the process that is killed", .enabled(if: environment["MIDSTREAM_CHILD_URL"] != nil))
        func child() async throws {
            let url = try #require(environment["MIDSTREAM_CHILD_URL"])
            let file = URL(fileURLWithPath: try #require(environment["MIDSTREAM_CHILD_FILE"]))
            let parallel = environment["MIDSTREAM_CHILD_PARALLEL"].flatMap { Int($0) } ?? 1
            try await testClient().download(HTTPRequest(url), to: file, options: .init(parallel: parallel))
        }

        private func run(_ url: String, to file: URL, parallel: Int) async throws {
            let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            _ = try await ChildProcess.run(
                "/usr/bin/env",
                [
                    "MIDSTREAM_CHILD_URL=\(url)", "MIDSTREAM_CHILD_FILE=\(file.path)", "MIDSTREAM_CHILD_PARALLEL=\(parallel)",
                    program,
                    "--testing-library", "swift-testing", "--filter", "KilledDownloadTests/child",
                ])
        }

        @Test(
            "The file is the old or the new one, whenever the process is killed",
            .enabled(if: environment["MIDSTREAM_CHILD_URL"] == nil))
        func killed() async throws {
            let (old, new) = (FileServer.blocks(Self.blocks), Array(FileServer.blocks(Self.blocks).reversed()))
            for round in 0..<Self.rounds {
                let server = try FileServer(old, eTag: "\"old\"")
                let folder = try TemporaryFolder()
                // Slow enough to be killed at any place.
                for _ in 0..<50 { server.next({ $0.fault = .throttle(bytesPerSecond: old.count) }) }
                let child = Task { try await run(server.url, to: folder.target, parallel: round % 3 == 0 ? 3 : 1) }
                let place = Int.random(in: 1..<old.count)
                await eventually {
                    let size = (try? FileManager.default.attributesOfItem(atPath: folder.part.path)[.size] as? Int) ?? 0
                    return size >= place || folder.content != nil
                }
                child.cancel()
                _ = await child.result
                #expect(folder.content == nil || folder.content == old)
                if round % 2 == 0 { server.replace(new, eTag: "\"new\"") }
                server.runFreely()
                try await server.client().download(HTTPRequest(server.url), to: folder.target)
                #expect(folder.content == (round % 2 == 0 ? new : old))
                #expect(folder.names == ["target.bin"])
            }
        }
    }
#endif
