import Foundation

/// Runs one contestant and prints a line of JSON: `midstream-bench client --interceptors 5 --url …`.
@main
struct Bench {
    static func main() async {
        do {
            let options = try Options(Array(CommandLine.arguments.dropFirst()))
            print(try await options.outcome().line)
        } catch {
            FileHandle.standardError.write(Data("midstream-bench: \(error)\n".utf8))
            exit(1)
        }
    }
}
