import Foundation

/// Runs each example of Examples/Integrations once; Scripts/check integrations builds this against the stand-ins.
@main
enum Integrations {
    static func main() async throws {
        try await logging()
        try await metrics()
        try await tracing()
        try await tracingLaws()
        try await httpTypes()
        try await openAPI()
        try await lifecycle()
        await userModel()
        print("Logging, metrics, tracing, HTTP types and generated clients do what their pages say.")
    }
}

func expect(_ holds: Bool, _ what: @autoclosure () -> String = "", file: String = #fileID, line: Int = #line) {
    guard !holds else { return }
    FileHandle.standardError.write(Data("\(file):\(line): \(what())\n".utf8))
    exit(1)
}
