import Foundation
import Midstream
import MidstreamSigning
import MidstreamTelemetry

/// One run of the tool: a request, its response, and what is to be shown of them.
struct Invocation {
    private let arguments: Arguments
    /// When the last attempt began.
    private let attempted = Locked(ContinuousClock.now)

    init(_ arguments: Arguments) { self.arguments = arguments }

    /// Returns the exit status.
    func run() async throws -> Int32 {
        let recorder = try arguments.archive.map { try HARRecorder(file: $0, bodies: 1 << 20) }
        let client = try client(recorder)
        let request = request()
        if arguments.showsCurlCommand {
            try Terminal.print(request.curlCommand())
            return 0
        }
        if arguments.showsExplanation {
            try Terminal.print("\(await client.explain(request))")
            return 0
        }
        let status = try await send(request, by: client)
        await recorder?.flush()
        if let failure = recorder?.failure { Terminal.printError("midst: \(failure)") }
        return status
    }

    private func send(_ request: HTTPRequest, by client: HTTPClient) async throws -> Int32 {
        let begun = ContinuousClock.now
        let file = fileToReplace(request)
        do {
            if let file { return try await download(request, to: file, by: client) }
            // A traced response is buffered, so that the trace holds the whole of it.
            let response = try await arguments.showsTrace ? client.send(request) : client.stream(request)
            if arguments.showsTrace {
                try await show(response)
                Terminal.printError("\(response.trace)")
            } else {
                try await showWithinLimits(response, since: begun)
            }
            return exitStatus(response.status)
        } catch let error as HTTPError {
            // What is no file's content is shown.
            if let response = error.response { try await file == nil ? show(response) : print(response) }
            Terminal.printError("midst: \(error)")
            if arguments.showsTrace, let trace = error.trace { Terminal.printError("\(trace)") }
            return exitStatus(error)
        }
    }

    // MARK: The exit status

    private func exitStatus(_ status: HTTPStatus) -> Int32 {
        if let expected = arguments.expectedStatus {
            if status.code == expected { return 0 }
            Terminal.printError("midst: \(status) came where \(expected) was expected")
            return arguments.checksStatus ? Self.class(of: status) ?? 1 : 1
        }
        if arguments.checksStatus, let status = Self.class(of: status) { return status }
        return status.code < 400 ? 0 : 1
    }

    private func exitStatus(_ error: HTTPError) -> Int32 {
        if error.code == .unacceptableStatus, let status = error.response?.status { return exitStatus(status) }
        guard arguments.checksStatus else { return 1 }
        if let status = error.response?.status, let status = Self.class(of: status) { return status }
        switch error.cause {
        case .timeout, .deadlineExceeded: return 7
        case .nameResolution, .connection, .connectionLost, .tls, .proxy, .protocolViolation: return 6
        default: return 1
        }
    }

    /// 3, 4 or 5.
    private static func `class`(of status: HTTPStatus) -> Int32? { status.code >= 300 ? Int32(status.code / 100) : nil }

    // MARK: Files

    /// The file that the answer replaces when it is complete; nil: it goes where it is written while it arrives.
    private func fileToReplace(_ request: HTTPRequest) -> URL? {
        guard let output = arguments.output, output != "-", request.method == .get, !arguments.includesHead, !arguments.showsTrace
        else { return nil }
        let file = URL(fileURLWithPath: output)
        let type = try? FileManager.default.attributesOfItem(atPath: output)[.type] as? FileAttributeType
        return type == nil || type == .typeRegular ? file : nil
    }

    private func download(_ request: HTTPRequest, to file: URL, by client: HTTPClient) async throws -> Int32 {
        var request = request
        request.validators = client.configuration.validators + [DefaultValidator(acceptableStatus: [200, 206])]
        let (sent, options) = (
            request, DownloadOptions(isResumable: arguments.isResumed, digest: arguments.digest, resumes: arguments.retries)
        )
        // Each attempt has as long for its body as for its head.
        let limit = arguments.timeout.map { $0 * Double(min(arguments.retries, 1_000) + 1) }
        let response = try await TimeLimit(limit, on: ContinuousClock()).run { _ in
            HTTPError.timedOut(phase: .answered)
        } _: {
            try await client.download(sent, to: file, options: options)
        }
        return exitStatus(response.status)
    }

    private func client(_ recorder: HARRecorder?) throws -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        configuration.validators = [RetryWhileLeft(retries: arguments.retries)]
        configuration.maxRetries = arguments.retries
        // There is one call, whose user has said how often.
        configuration.retryBudget = nil
        configuration.deadline = arguments.deadline
        configuration.maximumBufferedBody = 1 << 30
        if let timeout = arguments.timeout { configuration.timeout = timeout }
        if !arguments.followsRedirects { configuration.redirects = .refuse }
        if let recorder { configuration.observers = [recorder] }
        return HTTPClient(configuration: configuration, transport: try transport()) {
            identity
            if arguments.isStandard { Resilience.standard }
            if arguments.isHedged { Hedging() }
            UserAgent()
            AcceptAnything()
            AttemptStart(time: attempted)
            WireTimes(isOn: arguments.showsTrace)
            WireLog(isOn: arguments.isVerbose)
        }
    }

    private func transport() throws -> any HTTPTransport {
        guard let replay = arguments.replay else { return try arguments.transport.transport() }
        return ReplayTransport(try HARArchive(contentsOf: replay))
    }

    /// Credentials go to the URL's origin alone.
    private var identity: [any HTTPInterceptor] {
        switch arguments.identity {
        case .nobody: []
        case .bearer(let token): [AuthenticationInterceptor(BearerAuthenticator(token: token), origins: [arguments.url])]
        case .digest(let (user, password)):
            [DigestInterceptor(user: user, password: password, origins: [arguments.url])]
        case .basic(let (user, password)):
            [AuthenticationInterceptor(BasicAuthenticator(user: user, password: password), origins: [arguments.url])]
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
            try Terminal.print(arguments.format.statusLine(response))
            for (name, value) in response.headers { try Terminal.print(arguments.format.field(name, value)) }
            try Terminal.print("")
        }
        guard let path = arguments.output, path != "-" else { return try await print(response) }
        let output = try Self.descriptor(path)
        for try await chunk in response.body { try Terminal.put(chunk, into: output) }
        if close(output) != 0 { throw OutputFailure(code: errno) }
    }

    /// Prints the body: as it arrives, or laid out as a whole.
    private func print(_ response: HTTPResponse) async throws {
        let format = arguments.format
        if format.isLaidOut, response.headers[.contentType]?.contains("json") == true, response.body.length ?? .max <= 4 << 20,
            case let bytes = try await response.body.collect(upTo: 4 << 20),
            let text = format.laidOut(bytes, contentType: response.headers[.contentType])
        {
            return try Terminal.print(text)
        }
        for try await chunk in response.body {
            if format.isUnfit(chunk) {
                response.body.close()
                return Terminal.printError("midst: the body isn't text; -o FILE keeps it, --raw prints it")
            }
            try Terminal.put(chunk, into: STDOUT_FILENO)
        }
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
