import Logging
import Midstream
import MidstreamTesting

func logging() async throws {
    let stub = StubTransport(status: 204)
    let client = HTTPClient(
        baseURL: "https://api.example.com", configuration: .init(observers: [LoggingObserver()]), transport: stub)
    _ = try await Logger.$current.withValue(Logger(label: "shop")) {
        try await client.get("users/\(42)").query("token", "secret").data()
    }
    let lines = LoggerLines.take()
    expect(lines.count == 2 && lines[0].hasPrefix("shop trace HTTP exchange"), "\(lines)")
    expect(lines[1].hasPrefix("shop debug HTTP call") && lines[1].contains("http.status=204"), "\(lines)")
    expect(lines[1].contains("http.route=users/{}") && !"\(lines)".contains("secret"), "\(lines)")

    let failing = HTTPClient(
        configuration: .init(observers: [LoggingObserver(logger: Logger(label: "own"))]), transport: StubTransport(status: 404))
    _ = try? await failing.send(HTTPRequest("https://api.example.com/users/43"))
    let failure = LoggerLines.take().last ?? ""
    expect(failure.hasPrefix("own info HTTP call") && failure.contains("http.error=unacceptableStatus"), failure)
}
