import Measuring

/// Runs one contestant and prints a line of JSON: `midstream-bench client --interceptors 5 --url …`.
@main
struct Bench {
    static func main() {
        runToEnd {
            let options = try Options(Array(CommandLine.arguments.dropFirst()))
            print(try await options.outcome().line)
        }
    }
}
