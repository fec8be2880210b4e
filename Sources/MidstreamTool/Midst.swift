import Dispatch
import Foundation
import Midstream
import MidstreamTelemetry

/// `midst`: sends a request from the command line and shows what happens to it.
@main
enum Midst {
    static func main() async {
        Terminal.prepare()
        let (listening, started) = AsyncStream.makeStream(of: Never.self)
        let run = Task {
            for await _ in listening {}
            return try await Self.run()
        }
        await Interrupts.cancel(run)
        started.finish()
        do {
            exit(try await run.value)
        } catch let error as UsageError {
            Terminal.printError("midst: \(error.message)\nTry 'midst --help'.")
            exit(2)
        } catch  where error is CancellationError || run.isCancelled {
            exit(Interrupts.status.withLock { $0 })
        } catch let failure as OutputFailure where failure.code == EPIPE {
            // A reader that has gone away (`midst get … | head`) has had enough.
            exit(0)
        } catch {
            Terminal.printError("midst: \(error)")
            exit(1)
        }
    }

    /// Writes a page of an archive beside it, or where it is wanted.
    private static func report(_ file: String, to output: String?) throws {
        let archive = URL(fileURLWithPath: file)
        let beside = archive.deletingPathExtension().appendingPathExtension("html").path
        let target = try PageTarget(output ?? beside, of: file)
        try target.write(CallReport(HARArchive(contentsOf: file), title: archive.lastPathComponent).html())
        if !target.isStandardOutput { try Terminal.print(target.path) }
    }

    /// The words behind the tool's name.
    ///
    /// - Throws: `UsageError` for one that isn't UTF-8. `CommandLine.arguments` has it repaired: other bytes would be sent, and another file
    ///   be written.
    private static func words() throws -> [String] {
        try UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc)).dropFirst().map { word in
            guard let word, let text = String(validatingCString: word) else {
                throw UsageError("a word of the command isn't text in UTF-8; -d @FILE sends any bytes")
            }
            return text
        }
    }

    private static func run() async throws -> Int32 {
        let arguments = try Arguments(words())
        switch arguments.command {
        case .help: try Terminal.print(Arguments.help)
        case .version: try Terminal.print("midst \(Arguments.versionNumber)")
        case .request: return try await Invocation(arguments).run()
        case .replay(let file): return try await Replay(file: file, arguments: arguments).run()
        case .mend(let file): try Terminal.print("\(try HARArchive.mend(file)) entries are whole")
        case .batch(let file): return try await Batch(file: file, arguments: arguments).run()
        case .simulate(let file): try await Simulate(file: file, arguments: arguments).run()
        case .fromCurl(let command): try Terminal.print(FromCurl.command(command))
        case .report(let file): try Self.report(file, to: arguments.output)
        }
        return 0
    }
}

/// `Ctrl-C`, `kill` and the terminal's end: what is under way ends in an orderly way, so that no half a file stays; at once
/// where there are two of which one is `Ctrl-C`.
private enum Interrupts {
    /// What the tool ends with, as a shell tells of the signal that has come.
    static let status = Locked<Int32>(130)

    /// Signals are listened to by them until the tool ends. Held by a function they would be gone behind their last use, and every signal
    /// with them.
    private static let sources = Locked<[any DispatchSourceSignal]>([])

    /// Has each of them cancel a task. Returns when all are listened to: a signal that comes before ends the tool at once.
    static func cancel(_ task: Task<Int32, any Error>) async {
        for number in [SIGINT, SIGTERM, SIGHUP] {
            let before = signal(number, SIG_IGN)
            // As `nohup` has it, and a shell that starts it in a script's background.
            if number != SIGTERM, unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) { continue }
            signal(number, SIG_DFL)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                if task.isCancelled {
                    // A shell and the kernel, or timeout(1), send two for one wish. It is another one where Ctrl-C is among them.
                    if number == SIGINT || Self.status.withLock({ $0 == 128 + SIGINT }) { Self.end(by: number) }
                    return
                }
                Self.status.withLock { $0 = 128 + number }
                task.cancel()
                guard number != SIGINT else { return }
                // A read or a write may wait where no cancellation reaches it; a collector is waited for up to 10 s.
                DispatchQueue.global().asyncAfter(deadline: .now() + 15) { Self.end(by: number) }
            }
            await withCheckedContinuation { continuation in
                source.setRegistrationHandler {
                    #if canImport(Darwin)
                        // Elsewhere Dispatch handles it itself.
                        signal(number, SIG_IGN)
                    #endif
                    continuation.resume()
                }
                source.resume()
            }
            Self.sources.withLock { $0.append(source) }
        }
    }

    private static func end(by number: Int32) {
        PasswordPrompt.end()
        _exit(128 + number)
    }
}

/// What is wrong with the words on the command line.
struct UsageError: Error {
    let message: String
    init(_ message: String) { self.message = message }
}
