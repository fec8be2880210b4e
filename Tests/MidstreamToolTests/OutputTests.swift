import Foundation
import Interception
import Midstream
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamTool

@Suite("Where the tool writes", .leavesNothing, .timeLimit(.minutes(10)))
struct OutputTests {
    private let server: MockServer
    private let folder: TemporaryFolder

    init() throws {
        // The tool uses the process's own transport, which stays.
        Belongings.current?.excuse("WireLoop")
        server = try MockServer()
        folder = try TemporaryFolder()
    }

    private func get(into file: URL) async throws -> Int32 {
        server.enqueue(.init(body: "hello"))
        return try await Invocation(Arguments(["get", server.url(), "-o", file.path])).run()
    }

    private func attribute(_ key: FileAttributeKey, _ file: URL) throws -> Any? {
        try FileManager.default.attributesOfItem(atPath: file.path)[key]
    }

    @Test("What stands there is written to, and not replaced")
    func written() async throws {
        let file = try folder.file(Array("much longer than before".utf8))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        let link = folder.url.appendingPathComponent("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
        #expect(try await get(into: link) == 0)
        #expect(try attribute(.type, link) as? FileAttributeType == .typeSymbolicLink)
        #expect(try String(contentsOf: file, encoding: .utf8) == "hello")
        #expect(try attribute(.posixPermissions, file) as? Int == 0o600)
        let pipe = folder.url.appendingPathComponent("pipe")
        #expect(mkfifo(pipe.path, 0o600) == 0)
        let reader = open(pipe.path, O_RDWR)
        defer { close(reader) }
        #expect(try await get(into: pipe) == 0)
        var bytes = [UInt8](repeating: 0, count: 5)
        #expect(fcntl(reader, F_SETFL, O_NONBLOCK) == 0)
        #expect(read(reader, &bytes, 5) == 5 && bytes == Array("hello".utf8))
        let long = folder.url.appendingPathComponent(String(repeating: "a", count: 255))
        #expect(try await get(into: long) == 0)
        #expect(try String(contentsOf: long, encoding: .utf8) == "hello")
    }

    @Test("A file is closed also when the answer breaks off")
    func closed() async throws {
        var cut = MockServer.Response(body: .bytes([UInt8](repeating: 65, count: 100_000)))
        cut.fault = .disconnect(.insideBody(afterBytes: 1_000))
        server.enqueue(cut)
        let pipe = folder.url.appendingPathComponent("pipe").path
        #expect(mkfifo(pipe, 0o600) == 0)
        let reader = open(pipe, O_RDONLY | O_NONBLOCK)
        defer { close(reader) }
        #expect(try await Invocation(Arguments(["get", server.url(), "-o", pipe])).run() == 1)
        // The end, which comes when nobody can write any more: another test's child may have it open until it is another program.
        await eventually {
            var bytes = [UInt8](repeating: 0, count: 1_000)
            return read(reader, &bytes, 1_000) == 0
        }
    }

    @Test("Limits of time hold for the body as well", arguments: ["--deadline", "--timeout"])
    func limits(option: String) async throws {
        var endless = MockServer.Response(body: .bytes([UInt8](repeating: 65, count: 100_000)))
        endless.fault = .stall(.insideBody(afterBytes: 1_000))
        server.enqueue(endless)
        let file = folder.url.appendingPathComponent("file")
        #expect(try await Invocation(Arguments(["get", server.url(), option, "1", "-o", file.path])).run() == 1)
    }

    @Test("Limits of time hold for a body that is looked into as well", arguments: ["--deadline", "--timeout"])
    func limitsOfExpectations(option: String) async throws {
        let (clock, isRead) = (TestClock(), Gate())
        let body = HTTPBody.incoming(
            next: {
                isRead.open()
                try await untilCancelled()
                return nil
            }, close: {})
        let run = Task {
            try await Invocation(Arguments(["h", option, "5", "--expect", "json.a", "--check-status"]), clock: clock)
                .run(HTTPRequest("https://h/"), by: StubTransport(status: 200, body: body))
        }
        await isRead.wait()
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(5))
        #expect(try await run.value == 7)
    }

    /// What the shell makes of it, with the tool as `$0`, the server's URL as `$1` and a link to `/dev/full` as `$2`.
    private func shell(_ script: String) async throws -> ChildProcess {
        server.respond { _ in .init(headers: ["X": "\u{1B}[2J\u{7}"], body: .bytes([UInt8](repeating: 65, count: 1 << 20))) }
        let tool = try #require(Tool.path)
        let full = folder.url.appendingPathComponent("full")
        try FileManager.default.createSymbolicLink(atPath: full.path, withDestinationPath: "/dev/full")
        return try await ChildProcess.run("/bin/sh", ["-c", script, tool, server.url(), full.path])
    }

    @Test(
        "Output that can't be written is a failure, but a reader that has had enough is none",
        .enabled(if: Tool.path != nil && FileManager.default.fileExists(atPath: "/dev/full")),
        arguments: [
            ("\"$0\" get \"$1\" > /dev/full", 1), ("\"$0\" get \"$1\" >&-", 1), ("\"$0\" get \"$1\" -o \"$2\"", 1),
            ("\"$0\" --help > /dev/full", 1), ("\"$0\" get \"$1\" -i > /dev/full", 1),
            ("{ \"$0\" get \"$1\"; echo \"$?\" >&2; } | head -c 1", 0), ("\"$0\" get \"$1\" > /dev/null 2>&-", 0),
        ])
    func failures(script: String, status: Int) async throws {
        let child = try await shell(script)
        if script.contains("head") {
            #expect(child.errorText == "0\n")
        } else {
            #expect(child.status == .exited(Int32(status)))
            #expect(child.errorText.hasPrefix("midst: can't write the output") == (status == 1))
            #expect(child.errorText.split(separator: "\n").count == status)
        }
    }

    @Test(
        "A batch whose answers can't be written waits for no more requests",
        .enabled(if: Tool.path != nil && FileManager.default.fileExists(atPath: "/dev/full")))
    func unheard() async throws {
        server.respond { _ in .init() }
        // Its end of the pipe stays open.
        let script = """
            import subprocess, sys
            tool = subprocess.Popen([sys.argv[1], "batch", "-"], stdin=subprocess.PIPE, stdout=open("/dev/full", "w"))
            tool.stdin.write(b'{"url": "' + sys.argv[2].encode() + b'"}\\n')
            tool.stdin.flush()
            sys.exit(tool.wait())
            """
        let words = ["python3", "-c", script, try #require(Tool.path), server.url()]
        let child = try await ChildProcess.run("/usr/bin/env", words)
        #expect(child.status == .exited(1) && child.errorText.hasPrefix("midst: can't write the output"))
        #expect(server.requests.count == 1)
    }

    @Test("Nothing is sent where its answer couldn't be written", arguments: ["none/file", ".", "link"])
    func unwritable(path: String) async throws {
        server.respond { _ in .init(body: "hello") }
        let link = folder.url.appendingPathComponent("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder.url)
        let file = folder.url.appendingPathComponent(path).path
        await #expect(throws: RunFailure.self) {
            try await Invocation(Arguments(["post", server.url(), "-d", "x", "-o", file])).run()
        }
        #expect(server.requests.isEmpty)
    }

    @Test("A file is made where there is none, and where a link leads", arguments: ["file", "link"])
    func made(path: String) async throws {
        server.respond { _ in .init(body: "hello") }
        let (file, link) = (folder.url.appendingPathComponent("file"), folder.url.appendingPathComponent("link"))
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
        let output = folder.url.appendingPathComponent(path).path
        #expect(try await Invocation(Arguments(["post", server.url(), "-d", "x", "-o", output])).run() == 0)
        #expect(try String(contentsOf: file, encoding: .utf8) == "hello")
    }

    @Test("A session is its owner's alone before anything stands in it")
    func session() throws {
        let file = try folder.file(Array("[]".utf8))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
        var mode: Int?
        var content: Data?
        try Session(file.path).save { path in
            let descriptor = Terminal.makeFile(path)
            mode = (try? attribute(.posixPermissions, URL(fileURLWithPath: path))) as? Int
            content = FileManager.default.contents(atPath: path)
            return descriptor
        }
        #expect(mode == 0o600 && content == Data())
        #expect(try attribute(.posixPermissions, file) as? Int == 0o600)
        // Somebody else may have opened what is there.
        #expect(Terminal.makeFile(file.path) == -1)
    }

    @Test("A session that can't be written leaves nothing but its lock")
    func unwrittenSession() throws {
        let file = folder.url.appendingPathComponent("session")
        let session = try Session(file.path)
        session.jar.set(try Cookie("a", "1", domain: "example.com"))
        #expect(throws: RunFailure.self) {
            try session.save { path in
                // Which nothing can take the place of.
                mkdir(file.path, 0o700)
                return Terminal.makeFile(path)
            }
        }
        // What is there by now is no session.
        #expect(throws: RunFailure.self) { try session.save() }
        #expect(try Set(FileManager.default.contentsOfDirectory(atPath: folder.url.path)) == ["session", ".session.lock"])
    }

    @Test("What a run that was killed has written of a session is gone after the next")
    func killedSession() throws {
        let session = try Session(folder.url.appendingPathComponent("session").path)
        session.jar.set(try Cookie("a", "1", domain: "example.com"))
        var path = ""
        try session.save {
            path = $0
            return Terminal.makeFile($0)
        }
        try Data("[".utf8).write(to: URL(fileURLWithPath: path))
        try session.save()
        #expect(try Set(FileManager.default.contentsOfDirectory(atPath: folder.url.path)) == ["session", ".session.lock"])
    }

    @Test("Runs at once keep in a session what each of them has changed")
    func sessionsAtOnce() throws {
        let path = folder.url.appendingPathComponent("session").path
        func cookie(_ name: String, _ value: String) throws -> Cookie { try Cookie(name, value, domain: "example.com") }
        let first = try Session(path)
        for name in ["kept", "changed", "removed"] { first.jar.set(try cookie(name, "1")) }
        try first.save()
        let runs = try (0..<10).map { _ in try Session(path) }
        for (number, run) in runs.enumerated() { run.jar.set(try cookie("\(number)", "1")) }
        runs[0].jar.set(try cookie("changed", "2"))
        runs[0].jar.removeAll { $0.name == "removed" }
        DispatchQueue.concurrentPerform(iterations: runs.count) { try? runs[$0].save() }
        // A run that is saved call by call takes back what it has brought itself.
        runs[0].jar.removeAll { $0.name == "0" }
        try runs[0].save()
        let cookies = try Session(path).jar.cookies.map { "\($0.name)=\($0.value)" }
        #expect(cookies.prefix(2) == ["kept=1", "changed=2"])
        #expect(cookies.dropFirst(2).sorted() == (1..<10).map { "\($0)=1" })
    }

    @Test("A page is its owner's alone, but for one that replaces a page of more rights")
    func page() throws {
        let page = folder.url.appendingPathComponent("calls.html")
        let target = try PageTarget(page.path, of: folder.url.appendingPathComponent("calls.har").path)
        for (text, mode) in [("first", 0o600), ("second", 0o644)] {
            try target.write(text)
            #expect(try String(contentsOf: page, encoding: .utf8) == text)
            #expect(try attribute(.posixPermissions, page) as? Int == mode)
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: page.path)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["calls.html"])
    }

    @Test("A session is written before a collector is asked, which may not answer", .enabled(if: Tool.path != nil))
    func sessionBeforeTelemetry() async throws {
        let (file, isWritten) = (folder.url.appendingPathComponent("session"), Locked(false))
        server.respond { request in
            guard request.path != "/" else { return .init(headers: [.setCookie: "a=b"]) }
            isWritten.withLock { $0 = FileManager.default.fileExists(atPath: file.path) }
            return .init()
        }
        let words = ["get", server.url(), "--session", file.path, "--otlp", server.url("/collector")]
        let child = try await ChildProcess.run(try #require(Tool.path), words)
        #expect(child.status == .exited(0) && isWritten.withLock { $0 })
    }

    @Test("Spans that were lost are told, though the last export was taken", .enabled(if: Tool.path != nil))
    func lostSpans() async throws {
        let isRefused = Locked(false)
        server.respond { request in
            guard request.path.hasSuffix("/v1/traces") else { return .init() }
            let isFirst = isRefused.withLock { isRefused -> Bool in
                defer { isRefused = true }
                return !isRefused
            }
            return .init(status: isFirst ? .badRequest : .ok)
        }
        // Two spans for each, more than one export has room for.
        let requests = String(repeating: "{\"url\": \"\(server.url())\"}\n", count: 300)
        let words = ["batch", try folder.file(Array(requests.utf8)).path, "--otlp", server.url("/collector")]
        let child = try await ChildProcess.run(try #require(Tool.path), words)
        #expect(child.status == .exited(0))
        #expect(child.errorText.wholeMatch(of: #/midst: spans that were lost: [1-9][0-9]*\n/#) != nil, "\(child.errorText)")
    }

    @Test("A file that standard output is added to keeps what it has, whatever name it goes by", .enabled(if: Tool.path != nil))
    func added() async throws {
        let child = try await shell(
            "cd \"${2%/*}\"; echo old > x; \"$0\" get \"$1\" -o /dev/stdout >> x; head -n 1 x; cat x | wc -c")
        #expect(child.text.split(whereSeparator: \.isWhitespace) == ["old", "1048580"], "\(child.errorText)")
    }

    @Test("A file that can't be written is no wrong usage", .enabled(if: Tool.path != nil))
    func status() async throws {
        let child = try await shell("\"$0\" post \"$1\" -d x -o \"$2/file\"")
        #expect(child.status == .exited(1) && server.requests.isEmpty)
        #expect(child.errorText.hasPrefix("midst: can't write the file '") && !child.errorText.contains("--help"))
    }

    @Test("What a server sends is shown without control characters", .enabled(if: Tool.path != nil))
    func controls() async throws {
        for option in ["-i", "-v", "--trace"] {
            let child = try await shell("\"$0\" get \"$1\" \(option)")
            try FileManager.default.removeItem(at: folder.url.appendingPathComponent("full"))
            for text in [child.text, child.errorText] {
                #expect(!text.contains("\u{1B}") && !text.contains("\u{7}"))
            }
            if option != "--trace" { #expect((child.text + child.errorText).contains("\\u{1B}[2J\\u{7}")) }
        }
    }
}
