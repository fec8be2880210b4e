import Foundation
import Midstream
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamTool

@Suite("The tool, when it is interrupted,", .leavesNothing, .timeLimit(.minutes(10)))
struct InterruptTests {
    private let server: MockServer
    private let folder: TemporaryFolder

    init() throws {
        server = try MockServer()
        folder = try TemporaryFolder()
    }

    @Test("leaves the file as it was", .enabled(if: Tool.path != nil))
    func file() async throws {
        let file = try folder.file(Array("before".utf8))
        let status = try await interrupt("SIG_DFL", ["-o", file.path]) { try await untilCancelled() }
        #expect(status == .exited(130))
        #expect(try String(contentsOf: file, encoding: .utf8) == "before")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).count == 1)
    }

    @Test("goes on where who started it has interrupts ignored", .enabled(if: Tool.path != nil))
    func ignored() async throws {
        let isOver = Gate()
        let status = try await interrupt("SIG_IGN", ["-o", folder.url.appendingPathComponent("a").path]) {
            await isOver.wait()
        } after: {
            isOver.open()
        }
        #expect(status == .exited(0))
    }

    /// How the tool ends whose request is interrupted, where its parent has interrupts handled in a way.
    private func interrupt(
        _ disposition: String, _ words: [String], whileSlow: @escaping @Sendable () async throws -> Void,
        after: @escaping @Sendable () -> Void = {}
    ) async throws -> ChildProcess.Status {
        defer { server.shutdown() }
        server.respond { request in
            switch request.path {
            case "/slow": try await whileSlow()
            case "/count": return .init(body: .text("\(server.requests.filter { $0.path == "/slow" }.count)"))
            default: after()
            }
            return .init()
        }
        let script = """
            import signal, subprocess, sys, time, urllib.request
            ask = lambda path: urllib.request.urlopen(sys.argv[2].replace("/slow", path)).read()
            signal.signal(signal.SIGINT, getattr(signal, sys.argv[3]))
            tool = subprocess.Popen([sys.argv[1], sys.argv[2]] + sys.argv[4:])
            while b"1" not in ask("/count"): time.sleep(0.02)
            tool.send_signal(signal.SIGINT)
            ask("/after")
            sys.exit(tool.wait())
            """
        let all = ["-c", script, try #require(Tool.path), server.url("/slow"), disposition] + words
        return try await ChildProcess.run("/usr/bin/env", ["python3"] + all).status
    }

    @Test(
        "keeps what came until then, also where a shell and the kernel both tell it",
        .enabled(if: Tool.path != nil), arguments: [[SIGINT], [SIGTERM, SIGTERM], [SIGTERM, SIGHUP]])
    func interruptedStream(signals: [Int32]) async throws {
        let (isAsked, isTold) = (Gate(), Gate())
        server.respond { request in
            switch request.path {
            case "/asked": await isAsked.wait()
            case "/told": isTold.open()
            case "/collector/v1/metrics": break
            case "/collector/v1/traces":
                isAsked.open()
                await isTold.wait()
            default:
                // It stays open behind the first event.
                return .init(
                    headers: [.contentType: "text/event-stream", .setCookie: "a=b"], body: "data: 1\n\ndata: 2\n\n",
                    fault: .stall(.insideBody(afterBytes: 9)))
            }
            return .init()
        }
        let script = """
            import signal, subprocess, sys, urllib.request
            # What starts the tests may have them ignored.
            for number in (signal.SIGHUP, signal.SIGINT): signal.signal(number, signal.SIG_DFL)
            (asked, told, numbers) = sys.argv[1:4]
            tool = subprocess.Popen(sys.argv[4:], stdout=subprocess.PIPE)
            tool.stdout.readline()
            for number in numbers.split():
                tool.send_signal(int(number))
                urllib.request.urlopen(asked).read()
            urllib.request.urlopen(told).read()
            sys.exit(tool.wait())
            """
        let files = ["--har", "--session"].map { ($0, folder.url.appendingPathComponent($0).path) }
        let numbers = signals.map(String.init).joined(separator: " ")
        let words =
            ["-c", script, server.url("/asked"), server.url("/told"), numbers, try #require(Tool.path), server.url("/feed")]
            + ["--sse", "--otlp", server.url("/collector")] + files.flatMap { [$0, $1] }
        let child = try await ChildProcess.run("/usr/bin/env", ["python3"] + words)
        #expect(child.status == .exited(128 + signals[0]))
        let texts = try files.map { try String(contentsOfFile: $1, encoding: .utf8) }
        for (text, expected) in zip(texts, ["startedDateTime", "127.0.0.1"]) { #expect(text.contains(expected)) }
        // They follow the traces, for whose answer it waited when the second one came.
        #expect(server.requests.contains { $0.path == "/collector/v1/metrics" })
    }
}
