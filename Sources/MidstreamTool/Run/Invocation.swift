import Foundation
import Midstream
import MidstreamTelemetry
import MidstreamWebSocket

/// One run of the tool: a request, its response, and what is to be shown of them.
struct Invocation {
    private let arguments: Arguments
    private let retries: Int
    /// How often in a row an upload goes on, whose first request the client doesn't retry.
    private var resumes: Int { max(retries, 5) }
    private let clock: any Clock<Duration>
    private let summary = SummaryObserver()

    /// - Parameters:
    ///   - retries: Nil: as many as the arguments say.
    ///   - clock: What its limits and waits go by.
    init(_ arguments: Arguments, retries: Int? = nil, clock: any Clock<Duration> = ContinuousClock()) {
        self.arguments = arguments
        self.clock = clock
        self.retries = retries ?? arguments.retries
    }

    /// Returns the exit status.
    func run() async throws -> Int32 {
        let replay: (any HTTPTransport)? = try arguments.replay.map { ReplayTransport(try HARArchive(contentsOf: $0)) }
        let transport = try replay ?? arguments.transport.transport()
        return try await run(request(), by: transport)
    }

    /// - Parameter recording: What keeps the call along with others; nil: one of its own.
    func run(
        _ request: HTTPRequest, by transport: any HTTPTransport, recording: Recording? = nil
    ) async throws -> Int32 {
        if arguments.showsCurlCommand {
            guard arguments.upload == nil || arguments.uploadProtocol != .tus else {
                throw UsageError("curl has no uploads by tus, which --curl could show")
            }
            try Terminal.print(request.curlCommand())
            return 0
        }
        // Asked for before an archive is made.
        let file = try fileToReplace(request)
        if arguments.showsExplanation {
            try Terminal.print("\(await explanation(of: request, by: self.client([], transport)))")
            return 0
        }
        let recording = try recording ?? Recording(arguments)
        let client = client(recording.observers, transport)
        return try await recording.keeping(arguments.session) {
            let status = try await send(request, to: file, by: client)
            if let format = arguments.summary {
                try Terminal.put(Array(format.text(of: summary.summary).utf8), into: STDOUT_FILENO)
            }
            return status
        }
    }

    private func explanation(of request: HTTPRequest, by client: HTTPClient) async throws -> Explanation {
        if arguments.isSocket { return try await client.webSocket(request).explain() }
        guard let upload = arguments.upload else { return try await client.explain(request) }
        return try await client.explain(
            client.uploading(
                .file(URL(fileURLWithPath: upload)), by: request, protocol: arguments.uploadProtocol, resumes: resumes))
    }

    private func request() -> HTTPRequest {
        let file = arguments.upload.map { HTTPBody.file(URL(fileURLWithPath: $0)) }
        var request = HTTPRequest(arguments.method, arguments.url, headers: arguments.headers, body: file ?? arguments.body)
        for (name, value) in arguments.query { request.addQuery(name, value) }
        if arguments.delivery == .events {
            // As `client.events` has it, for what only shows the request.
            request.headers.merge(defaults: [.accept: "text/event-stream", .cacheControl: "no-store"])
        }
        return request
    }

    func client(_ observers: [any CallObserver], _ transport: any HTTPTransport, bodyLimit: Int = 1 << 30) -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        configuration.headers = [.userAgent: "midst/\(Arguments.versionNumber)", .accept: "*/*"]
        configuration.validators = [RetryWhileLeft(retries: retries)]
        configuration.maxRetries = retries
        // Whoever says how often gets as many; the standard set has its retries within a budget.
        if !arguments.isStandard || arguments.givenRetries != nil { configuration.retryBudget = nil }
        configuration.deadline = arguments.deadline
        configuration.deadlineCoversBody = true
        configuration.clock = clock
        configuration.maximumBufferedBody = bodyLimit
        // An upload takes as long as its line does, and the only attempt of a call as long as that may.
        let isLimitedByCall = arguments.deadline != nil && retries == 0 && arguments.delivery != .events
        if arguments.timeout != nil || arguments.isUpload || isLimitedByCall { configuration.timeout = arguments.timeout }
        if !arguments.followsRedirects { configuration.redirects = .refuse }
        configuration.observers = observers
        if arguments.summary != nil { configuration.observers.append(summary) }
        return HTTPClient(configuration: configuration, transport: transport) {
            arguments.identity.interceptors(for: arguments.url)
            if let session = arguments.session { CookieInterceptor(session.jar) }
            if let rate = arguments.rate { RateLimit(perSecond: rate, maximumWait: .seconds(1e9), scope: .client) }
            if arguments.isStandard { Resilience.standard }
            if arguments.isHedged { Hedging() }
            if arguments.isCompressed { CompressRequests(.gzip) }
            if arguments.timeout != nil, arguments.delivery != .events, !arguments.isSocket { BodyTimeout() }
            if arguments.showsTrace { WireTimes() }
            if arguments.isVerbose { WireLog() }
        }
    }

    // MARK: Sending

    private var exitStatus: ExitStatus { ExitStatus(arguments: arguments) }
    private var answer: Answer { Answer(arguments: arguments) }

    /// - Parameter file: What the answer replaces.
    private func send(_ request: HTTPRequest, to file: URL?, by client: HTTPClient) async throws -> Int32 {
        do {
            if let file { return try await download(request, to: file, by: client) }
            if let upload = arguments.upload { return try await self.upload(upload, by: request, client) }
            if arguments.isSocket {
                return try await Conversation(socket: client.webSocket(request), showsTrace: arguments.showsTrace).run()
            }
            if arguments.delivery == .events { return try await listen(request, by: client) }
            // A traced response is buffered, so that the trace holds the whole of it.
            let response = try await buffered(arguments.showsTrace ? client.send(request) : client.stream(request))
            try await answer.show(response)
            if arguments.showsTrace { Terminal.printError("\(response.trace)") }
            return judged(response)
        } catch let error as HTTPError {
            // What is no file's content is shown.
            return try await tell(error, isContent: file == nil)
        }
    }

    /// Tells of a failure behind the answer that it has, and returns the exit status.
    private func tell(_ error: HTTPError, isContent: Bool) async throws -> Int32 {
        var response = error.response
        var shortfall: HTTPError?
        if let refused = response {
            do {
                let shown = try await buffered(refused)
                try await answer.show(shown, isContent: isContent)
                response = shown
            } catch let failure as HTTPError {
                Terminal.printError("midst: \(failure)")
                shortfall = failure
            }
        }
        Terminal.printError("midst: \(error)")
        if let closure = error.underlying as? WebSocketClosure, closure.byPeer, !closure.reason.isEmpty {
            Terminal.printError("midst: the server's reason: \(closure.reason.escapingControls)")
        }
        if arguments.showsTrace, let trace = error.trace { Terminal.printError("\(trace)") }
        let status = exitStatus.of(error)
        guard status == 0, let response else { return status }
        if let shortfall { return exitStatus.of(shortfall) }
        // It has the status that was expected.
        return judged(response)
    }

    /// With its body in memory, when it is looked into.
    private func buffered(_ response: HTTPResponse) async throws -> HTTPResponse {
        var response = response
        if !arguments.expectations.isEmpty { response.body = try await .bytes(response.body.collect(upTo: 64 << 20)) }
        return response
    }

    /// The exit status for an answer, by its status and what it says.
    private func judged(_ response: HTTPResponse) -> Int32 {
        let status = exitStatus.of(response.status)
        let failures = arguments.expectations.compactMap { $0.failure(in: response.data) }
        for failure in failures { Terminal.printError("midst: \(failure)") }
        return status == 0 && !failures.isEmpty ? 1 : status
    }

    /// The file that the answer replaces when it is complete; nil: it goes where it is written while it arrives.
    ///
    /// - Throws: `UsageError` where what is asked for takes such a file; `RunFailure` where nothing can be written.
    private func fileToReplace(_ request: HTTPRequest) throws -> URL? {
        if let output = arguments.output, output != "-", request.method == .get, arguments.upload == nil,
            Terminal.isReplaceable(output)
        {
            return URL(fileURLWithPath: output)
        }
        guard arguments.digest == nil, !arguments.isResumed else {
            throw UsageError("--sha256 and -C are for a GET whose answer replaces a regular file (-o FILE)")
        }
        if let output = arguments.output, output != "-" { try Terminal.check(output) }
        return nil
    }

    private func download(_ request: HTTPRequest, to file: URL, by client: HTTPClient) async throws -> Int32 {
        var request = request
        request.validators = client.configuration.validators + [DefaultValidator(acceptableStatus: [200, 206])]
        let sent = request
        var response = try await ProgressBar.showing(arguments.isSilent) { meter in
            let options = DownloadOptions(
                isResumable: arguments.isResumed, digest: arguments.digest, resumes: retries, meter: meter)
            return try await client.download(sent, to: file, options: options)
        }
        try answer.showHead(of: response)
        if arguments.showsTrace { Terminal.printError("\(response.trace)") }
        response.body = .file(file)
        return try await judged(buffered(response))
    }

    private func upload(_ path: String, by request: HTTPRequest, _ client: HTTPClient) async throws -> Int32 {
        let response = try await buffered(
            ProgressBar.showing(arguments.isSilent) { meter in
                try await client.upload(
                    .file(URL(fileURLWithPath: path)), by: request, protocol: arguments.uploadProtocol, resumes: resumes,
                    meter: meter)
            })
        try await answer.show(response)
        if arguments.showsTrace { Terminal.printError("\(response.trace)") }
        return judged(response)
    }

    private func listen(_ request: HTTPRequest, by client: HTTPClient) async throws -> Int32 {
        let isVerbose = arguments.isVerbose
        let events = client.events(request) { _, delay, cause in
            if isVerbose { Terminal.printError("midst: \(cause.map(String.init(describing:)) ?? "it ended"); again in \(delay)") }
        }
        for try await event in events { try answer.print(event) }
        return 0
    }
}
