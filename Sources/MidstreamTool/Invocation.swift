import Foundation
import Midstream

/// One run of the tool: a request, its response, and what is to be shown of them.
struct Invocation {
    private let arguments: Arguments
    /// When the last attempt began.
    private let attempted = Locked(ContinuousClock.now)

    init(_ arguments: Arguments) { self.arguments = arguments }

    /// Returns the exit status.
    func run() async throws -> Int32 {
        let client = try client()
        let request = request()
        if arguments.showsCurlCommand {
            try Terminal.print(request.curlCommand())
            return 0
        }
        if arguments.showsExplanation {
            try Terminal.print("\(await client.explain(request))")
            return 0
        }
        let begun = ContinuousClock.now
        do {
            // A traced response is buffered, so that the trace holds the whole of it.
            let response = try await arguments.showsTrace ? client.send(request) : client.stream(request)
            if arguments.showsTrace {
                try await show(response)
                Terminal.printError("\(response.trace)")
            } else {
                try await showWithinLimits(response, since: begun)
            }
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
            AttemptStart(time: attempted)
            WireTimes(isOn: arguments.showsTrace)
            WireLog(isOn: arguments.isVerbose)
        }
    }

    private func request() -> HTTPRequest {
        var request = HTTPRequest(arguments.method, arguments.url, headers: arguments.headers, body: arguments.body)
        for (name, value) in arguments.query { request.addQuery(name, value) }
        return request
    }

    /// Of a stream the client's limits end with its head; those that the user has set hold for the body as well.
    private func showWithinLimits(_ response: HTTPResponse, since begun: ContinuousClock.Instant) async throws {
        let limits = [
            arguments.deadline.map { ($0 - begun.duration(to: .now), HTTPError.pastDeadline($0, phase: .answered)) },
            arguments.timeout.map { ($0 - attempted.withLock { $0 }.duration(to: .now), HTTPError.timedOut(phase: .answered)) },
        ].compactMap { $0 }
        guard let (left, error) = limits.min(by: { $0.0 < $1.0 }) else { return try await show(response) }
        try await TimeLimit(left, on: ContinuousClock()).run { _ in
            error
        } _: {
            try await show(response)
        }
    }

    private func show(_ response: HTTPResponse) async throws {
        if arguments.includesHead {
            try Terminal.print("\(response.version) \(response.status)")
            for (name, value) in response.headers { try Terminal.print("\(name): \(value)".escapingControls) }
            try Terminal.print("")
        }
        let output = try arguments.output.map(Self.descriptor) ?? STDOUT_FILENO
        for try await chunk in response.body { try Terminal.put(chunk, into: output) }
        if arguments.output != nil, close(output) != 0 { throw OutputFailure(code: errno) }
    }

    /// Opens what is there, whatever it is, to be written from its beginning, or makes a file.
    private static func descriptor(_ path: String) throws -> Int32 {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else {
            throw UsageError("can't write the file '\(path)': \(String(cString: strerror(errno)))")
        }
        return descriptor
    }
}
