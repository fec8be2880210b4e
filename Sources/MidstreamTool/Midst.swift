import Foundation
import Midstream

/// `midst`: sends a request from the command line and shows what happens to it.
@main
enum Midst {
    static func main() async {
        Terminal.prepare()
        do {
            let arguments = try Arguments(CommandLine.arguments.dropFirst())
            switch arguments.command {
            case .help: try Terminal.print(Arguments.help)
            case .version: try Terminal.print("midst \(Arguments.versionNumber)")
            case .request: exit(try await Invocation(arguments).run())
            }
        } catch let error as UsageError {
            Terminal.printError("midst: \(error.message)\nTry 'midst --help'.")
            exit(2)
        } catch is CancellationError {
            exit(130)
        } catch let failure as OutputFailure where failure.code == EPIPE {
            // A reader that has gone away (`midst get … | head`) has had enough.
            exit(0)
        } catch {
            Terminal.printError("midst: \(error)")
            exit(1)
        }
    }
}

/// What is wrong with the words on the command line.
struct UsageError: Error {
    let message: String
    init(_ message: String) { self.message = message }
}
