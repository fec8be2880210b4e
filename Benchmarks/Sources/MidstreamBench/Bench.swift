import Foundation

/// Runs one contestant and prints a line of JSON: `midstream-bench client --interceptors 5 --url …`.
@main
struct Bench {
    /// Isn't asynchronous, since the thread of an asynchronous `main` ends before the process does, which the tools that count
    /// instructions don't expect.
    static func main() {
        let over = DispatchSemaphore(value: 0)
        Task.detached {
            do {
                let options = try Options(Array(CommandLine.arguments.dropFirst()))
                print(try await options.outcome().line)
                over.signal()
            } catch {
                FileHandle.standardError.write(Data("midstream-bench: \(error)\n".utf8))
                exit(1)
            }
        }
        over.wait()
    }
}
