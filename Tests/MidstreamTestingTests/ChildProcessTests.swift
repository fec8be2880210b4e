import Foundation
import TestSupport
import Testing

@Suite(.leavesNothing, .timeLimit(.minutes(10))) struct ChildProcessTests {
    private func shell(_ script: String) async throws -> ChildProcess {
        try await ChildProcess.run("/bin/sh", ["-c", script])
    }

    @Test func tellsTheStatusAndBothOutputs() async throws {
        let child = try await shell("echo out; echo err >&2; exit 7")
        #expect(child.status == .exited(7))
        #expect(child.text == "out\n")
        #expect(child.errorText == "err\n")
    }

    @Test func tellsTheSignalThatKilledIt() async throws {
        #expect(try await shell("kill -TERM $$").status == .killed(signal: SIGTERM))
    }

    @Test func aMissingProgramIsAnError() async {
        let error = await #expect(throws: ChildProcess.NotStarted.self) { try await ChildProcess.run("/nowhere", []) }
        #expect(error?.program == "/nowhere" && error?.code == ENOENT)
    }

    @Test func moreThanAPipeHoldsOnEitherOutput() async throws {
        let child = try await shell("head -c 1000000 /dev/zero >&2; head -c 1000000 /dev/zero")
        #expect(child.output.count == 1_000_000 && child.errorOutput.count == 1_000_000)
    }

    @Test func readsNothing() async throws {
        #expect(try await shell("cat").output.isEmpty)
    }

    @Test func inheritsNoDescriptor() async throws {
        let descriptor = open("/", O_RDONLY)
        defer { close(descriptor) }
        // The shell itself takes one digit only.
        let child = try await shell("test -e /dev/fd/\(descriptor)")
        #expect(child.status == .exited(1))
    }

    @Test func isKilledWhenTheTaskIsCancelled() async throws {
        let path = temporaryPath("started-\(UUID().uuidString)").path
        try #require(mkfifo(path, 0o600) == 0)
        // Open for writing too, so that the opening doesn't wait for the program.
        let descriptor = open(path, O_RDWR)
        defer {
            close(descriptor)
            unlink(path)
        }
        let task = Task { try await shell("echo started > \(path); sleep 1000") }
        let hasStarted = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                continuation.resume(returning: poll(&wait, 1, 300_000) == 1)
            }
        }
        #expect(hasStarted)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func isNotStartedByACancelledTask() async {
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await shell("exit 0")
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
