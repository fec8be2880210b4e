import Foundation
import Midstream

/// One run of the tool: a request, its response, and what is to be shown of them.
struct Invocation {
    private let arguments: Arguments

    init(_ arguments: Arguments) { self.arguments = arguments }

    /// Returns the exit status.
    func run() async throws -> Int32 {
        let client = try client()
        let request = request()
        if arguments.showsCurlCommand {
            Terminal.print(request.curlCommand())
            return 0
        }
        if arguments.showsExplanation {
            Terminal.print("\(try await client.explain(request))")
            return 0
        }
        do {
            // A traced response is buffered, so that the trace holds the whole of it.
            let response = try await arguments.showsTrace ? client.send(request) : client.stream(request)
            try await show(response)
            if arguments.showsTrace { Terminal.printError("\(response.trace)") }
            return response.status.code < 400 ? 0 : 1
        } catch let error as HTTPError {
            if let response = error.response { try await show(response) }
            Terminal.printError("midst: \(error)")
            if arguments.showsTrace, let trace = error.trace { Terminal.printError("\(trace)") }
            return 1
        }
    }

    private func client() throws -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        configuration.validators = [RetryWhileLeft(retries: arguments.retries)]
        configuration.maxRetries = arguments.retries
        // There is one call, whose user has said how often.
        configuration.retryBudget = nil
        configuration.deadline = arguments.deadline
        configuration.maximumBufferedBody = 1 << 30
        if let timeout = arguments.timeout { configuration.timeout = timeout }
        if !arguments.followsRedirects { configuration.redirects = .refuse }
        return HTTPClient(configuration: configuration, transport: try arguments.transport.transport()) {
            UserAgent()
            AcceptAnything()
            WireTimes(isOn: arguments.showsTrace)
            WireLog(isOn: arguments.isVerbose)
        }
    }

    private func request() -> HTTPRequest {
        var request = HTTPRequest(arguments.method, arguments.url, headers: arguments.headers, body: arguments.body)
        for (name, value) in arguments.query { request.addQuery(name, value) }
        return request
    }

    private func show(_ response: HTTPResponse) async throws {
        if arguments.includesHead {
            Terminal.print("\(response.version) \(response.status)")
            for (name, value) in response.headers { Terminal.print("\(name): \(value)") }
            Terminal.print("")
        }
        guard let path = arguments.output else {
            for try await chunk in response.body { Terminal.write(chunk, to: .standardOutput) }
            return
        }
        guard FileManager.default.createFile(atPath: path, contents: nil), let file = FileHandle(forWritingAtPath: path) else {
            throw UsageError("can't write the file '\(path)'")
        }
        for try await chunk in response.body { try file.write(contentsOf: Data(chunk)) }
        try file.close()
    }
}
