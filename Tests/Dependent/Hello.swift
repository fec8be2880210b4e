import MidstreamClient

/// A program that sends requests and nothing more: `MidstreamClient` alone has the client, its transport and tasks.
@main
enum Hello {
    static func main() async throws {
        let text = try await HTTPClient.shared.get(RequestURL(CommandLine.arguments[1])).retries(1).string()
        print("dependent package: \(text)", terminator: "")
    }
}
