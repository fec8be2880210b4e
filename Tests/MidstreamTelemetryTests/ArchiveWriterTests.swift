#if os(Linux)
    import Foundation
    import MidstreamCore
    @testable import MidstreamTelemetry
    import MidstreamTesting
    import TestSupport
    import Testing

    /// Processes that record, and die at any point. How often is said by `MIDSTREAM_ARCHIVE_KILLS`; a few times otherwise.
    @Suite("An archive whose writer is killed", .leavesNothing, .serialized, .timeLimit(.minutes(10)))
    struct ArchiveWriterTests {
        private static let fileVariable = "MIDSTREAM_ARCHIVE_WORKER"
        private static var environment: [String: String] { ProcessInfo.processInfo.environment }

        @Test("is written until then", .enabled(if: environment[fileVariable] != nil))
        func worker() async throws {
            let recorder = try HARRecorder(file: try #require(Self.environment[Self.fileVariable]))
            let transport = StubTransport { request in
                HTTPResponse(
                    status: .ok, headers: [.contentType: "text/plain"],
                    body: .text(String(repeating: "x", count: Int.random(in: 0..<60_000))), request: request)
            }
            let client = testClient(configuration: .init(observers: [recorder]), transport: transport)
            // A write past the limit of a file's size is an error then.
            signal(SIGXFSZ, SIG_IGN)
            for number in 0... {
                if recorder.failure != nil { break }
                _ = try await client.send(HTTPRequest("http://h/\(number)"))
                // Calls that outrun the recorder would be dropped, and be missed in the file.
                if number.isMultiple(of: 500) { await recorder.flush() }
            }
        }

        @Test("ends when there is no room, and the calls don't notice", .enabled(if: environment[fileVariable] == nil))
        func full() async throws {
            let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            try await withFolder { folder in
                let path = "\(folder)/full.har"
                let script = "ulimit -f 500; \(Self.fileVariable)=\(path) exec \(program) --testing-library swift-testing"
                let worker = try await ChildProcess.run("/bin/sh", ["-c", "\(script) --filter ArchiveWriterTests"])
                #expect(worker.status == .exited(0))
                #expect(try HARArchive(contentsOf: path).count > 0)
                #expect(try JSONSerialization.jsonObject(with: Data(contentsOf: URL(fileURLWithPath: path))) is [String: Any])
            }
        }

        @Test(
            "keeps its last entry where there is no room for what that should tell",
            .enabled(if: environment[fileVariable] == nil))
        func fullForTheLast() async {
            await #expect(processExitsWith: .success) {
                try await withFolder { folder in
                    let path = "\(folder)/full.har"
                    let url = URL(fileURLWithPath: path)
                    let file = try HARFile(at: path, isContinued: false)
                    for _ in 0..<2 { _ = try file.add(HAREntry()) }
                    let whole = try Data(contentsOf: url)
                    var last = HAREntry()
                    last.comment = "3 more were left out"
                    // A part of that can be written.
                    let allowed = limitFileSize(to: UInt(whole.count + 8))
                    #expect(throws: (any Error).self) { try file.replaceLast(by: last) }
                    limitFileSize(to: allowed)
                    #expect(try Data(contentsOf: url) == whole && file.count == 2)
                    try file.replaceLast(by: last)
                    #expect(try HARArchive(contentsOf: path).entries.map(\.comment) == [nil, "3 more were left out"])
                }
            }
        }

        @Test("is read but for the last entry", .enabled(if: environment[fileVariable] == nil))
        func kills() async throws {
            let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            let count = Self.environment["MIDSTREAM_ARCHIVE_KILLS"].flatMap { Int($0) } ?? 3
            try await withFolder { folder in
                for number in 0..<count {
                    let path = "\(folder)/\(number).har"
                    let worker = Task {
                        try await ChildProcess.run(
                            "/usr/bin/env",
                            [
                                "\(Self.fileVariable)=\(path)", program, "--testing-library", "swift-testing", "--filter",
                                "ArchiveWriterTests",
                            ])
                    }
                    // What happens until then is the point, not how long it takes. A file without a head is no archive yet.
                    await eventually { FileManager.default.contents(atPath: path)?.isEmpty == false }
                    try await Task.sleep(for: .milliseconds(Int.random(in: 20..<300)))
                    worker.cancel()
                    _ = await worker.result
                    let archive = try HARArchive(contentsOf: path)
                    let numbers = Set(
                        try archive.entries.map { try #require(Int($0.request.url.split(separator: "/").last ?? "")) })
                    #expect(numbers.count == archive.count && archive.count >= (numbers.max() ?? -1))
                }
            }
        }
    }
#endif
