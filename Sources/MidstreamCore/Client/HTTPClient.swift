public import Foundation
internal import Interception

/// Sends requests through a pipeline of interceptors.
///
/// A client is immutable and safe to use from any task; make one per service and keep it, since its transport keeps the
/// connections. Interceptors, configuration and transport are fixed when it is made.
public final class HTTPClient: Sendable {
    /// What relative URLs are joined to.
    public let baseURL: String?
    /// The settings that requests don't set themselves.
    public let configuration: Configuration
    /// What puts the requests on the wire.
    public let transport: any HTTPTransport
    private let arbiter: Arbiter
    private let assembled: Pipeline
    private let observation: CallObservation.Settings?
    private let defaults: ClientDefaults
    /// For requests to other origins than the base URL's.
    private let defaultsElsewhere: ClientDefaults
    package let baseOrigin: OriginMatch?
    package let background = BackgroundWork()
    package let stopwatch: Stopwatch

    /// Makes a client.
    ///
    /// - Parameters:
    ///   - baseURL: What relative URLs are joined to: `https://h/v2` and `users` give `https://h/v2/users`. Checked when it is used.
    ///   - configuration: Settings; see ``Configuration`` for the defaults.
    ///   - interceptors: In each stage the first listed is the outermost. The stages are sorted by the pipeline.
    public init(
        baseURL: String? = nil, configuration: Configuration = .init(), transport: any HTTPTransport,
        @PipelineBuilder interceptors: () -> [any HTTPInterceptor] = { [] }
    ) {
        self.baseURL = baseURL
        baseOrigin = baseURL.flatMap { OriginMatch($0) }
        self.configuration = configuration
        stopwatch = Stopwatch(on: configuration.clock)
        observation = configuration.observation
        self.transport = transport
        defaults = ClientDefaults(configuration, baseURL: baseURL)
        defaultsElsewhere = ClientDefaults(withoutCredentialsOf: configuration)
        arbiter = Arbiter(configuration.arbiterSettings)
        assembled = Pipeline(
            client: interceptors(), arbiter: arbiter, redirects: Redirects(policy: configuration.redirects), transport: transport,
            redaction: configuration.redaction)
        observation?.source.client = self
    }

    /// Makes a client with a `URL` as its base, whose text is taken.
    public convenience init(
        baseURL: URL, configuration: Configuration = .init(), transport: any HTTPTransport,
        @PipelineBuilder interceptors: () -> [any HTTPInterceptor] = { [] }
    ) {
        self.init(
            baseURL: baseURL.absoluteString, configuration: configuration, transport: transport, interceptors: interceptors)
    }

    /// Where the client stands with its budget for retries; nil when it has none.
    public var retryBudget: RetryBudget.State? { arbiter.ledger?.state }

    /// A thread of the transport's as a preference for tasks: `withTaskExecutorPreference(client.executor) { … }`. Nil, which leaves tasks where
    /// they are, for transports that have none, such as URLSession's.
    ///
    /// Tasks that mostly send requests cost less there, since a response is handled on the thread that received it. They hold
    /// up the other requests of that thread while they compute, and must not block. With several event loops, each access gives the next
    /// one's. Once the transport is closed tasks go on, elsewhere.
    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    public var executor: (any TaskExecutor)? { transport.executor }

    /// The order in which requests of this client pass; it prints itself by stage.
    public var pipeline: PipelineDescription { assembled.legend.pipeline }

    /// Those of the pipeline, outermost first, the built-in ones included.
    package var interceptors: [any HTTPInterceptor] { assembled.elements.map(\.interceptor) }

    /// Sends a request and returns when the whole response is there, its body in memory.
    ///
    /// Runs in the caller's task.
    ///
    /// - Throws: ``HTTPError``: by default also for a status outside 200..<400, and ``HTTPError/Code/bodyTooLarge`` past
    ///   ``Configuration/maximumBufferedBody``. `CancellationError` when the task is cancelled. What an interceptor or a
    ///   validator throws, unchanged.
    public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        try await run(request, delivery: .buffered(upTo: configuration.maximumBufferedBody))
    }

    /// Sends a request and returns when the head of the response is there; the body arrives while it is read.
    ///
    /// Read the body to its end or close it (``HTTPBody/close()``); releasing the response closes it as well. The attempt's timeout covers
    /// the time until the head, and so does the deadline unless ``HTTPRequest/deadlineCoversBody``. Validators see the response without its
    /// body.
    ///
    /// URLSession on Apple's platforms holds back the head and the first 512 bytes of a body that is `text/plain` or says no media type,
    /// until there are more or the body ends, to guess what it is. A server that sends little by little should name another type.
    ///
    /// - Throws: As ``send(_:)->HTTPResponse`` does, up to the head. Of a rejected response up to ``HTTPError/keptBody`` of the body are read
    ///   first, within the attempt's time (10 s where that has no limit), so that ``HTTPError/response`` has it; a longer one is still
    ///   arriving there, and the error says so. It also says so where the body was given up for a retry that the deadline then forbade, or
    ///   that no credential could be had for.
    public func stream(_ request: HTTPRequest) async throws -> HTTPResponse {
        try await run(request, delivery: .streamed)
    }

    /// Explains what sending a request would do, without sending anything.
    ///
    /// Interceptors plan the request (``HTTPInterceptor/plan(_:)``) in the order in which they would run. The code for requests of a
    /// ``RequestInterceptor`` and a ``LifecycleInterceptor`` is run, closures included, unless it comes with a plan of its own; nothing else
    /// is. A request that such code tries to send by any client is refused with ``HTTPError/Code/explaining`` and shown in the explanation.
    ///
    /// - Throws: The error that would keep the request from being sent, such as ``HTTPError/Code/invalidRequest``.
    public func explain(_ request: HTTPRequest) async throws -> Explanation {
        try await explain(request, by: configuration.redaction)
    }

    /// The same, as somebody shows it who has a redaction of their own.
    package func explain(_ request: HTTPRequest, by redaction: Redaction) async throws -> Explanation {
        let start = try prepared(request)
        return try await pipeline(for: request).rehearse(
            start, given: request, limits: limits, redirects: configuration.redirects, redaction: redaction
        ) {
            rehearsed(start, $0)
        }
    }

    /// Makes connections ahead of the requests that will use them: name, TCP and, for https, TLS; see ``HTTPTransport/prepare(_:connections:)``.
    /// Interceptors aren't run.
    ///
    /// - Parameters:
    ///   - url: Absolute, or relative to the client's base URL, of which the origin counts; that of the base URL by default.
    ///   - connections: How many are to stand without a request; 1 by default.
    /// - Throws: ``HTTPError``: ``HTTPError/Code/unsupported`` when the transport can't, ``HTTPError/Code/invalidRequest`` when there is no
    ///   URL to connect to, and what connecting fails with. `CancellationError`.
    public func prepare(_ url: RequestURL = "", connections: Int = 1) async throws {
        let target = try prepared(HTTPRequest(url))
        try Rehearsal.refuse(target)
        try await transport.prepare(target.urlText, connections: connections)
    }

    /// A call in which nothing is sent.
    ///
    /// - Parameter beginning: When the call began that it tells about; nil: now.
    private func rehearsed(_ request: HTTPRequest, _ rehearsal: Rehearsal, since beginning: Int64? = nil) -> Call {
        Call(
            owner: self, requestID: request.id, delivery: .buffered(upTo: configuration.maximumBufferedBody),
            checkedURL: request.urlText, recorder: nil, rehearsal: rehearsal, beginning: beginning)
    }

    nonisolated(nonsending)
        private func run(
            _ request: HTTPRequest, delivery: BodyDelivery
        ) async throws -> HTTPResponse
    {
        guard observation == nil else { return try await observed(request, delivery, observe(for: .own)) }
        return try await run(request, delivery, nil, nil)
    }

    /// Makes the observation of a call, if anybody observes.
    private func observe(for purpose: CallRecord.Purpose, serving served: CallObservation? = nil) -> CallObservation? {
        observation.map { CallObservation($0, for: purpose, serving: served, at: now(), on: stopwatch) }
    }

    @inline(never)
    private func observed(
        _ request: HTTPRequest, _ delivery: BodyDelivery, _ observation: CallObservation?, sharing: (any ExchangeSharing)? = nil
    ) async throws -> HTTPResponse {
        do {
            let response = try await run(request, delivery, sharing, observation)
            observation?.end(returning: response)
            return response
        } catch {
            throw observation?.end(throwing: error, of: request) ?? error
        }
    }

    nonisolated(nonsending)
        private func run(
            _ request: HTTPRequest, _ delivery: BodyDelivery, _ sharing: (any ExchangeSharing)?, _ observation: CallObservation?
        ) async throws -> HTTPResponse
    {
        let prepared = try prepared(request)
        observation?.begin(prepared)
        try Rehearsal.refuse(prepared)
        let pipeline = pipeline(for: request)
        let position = position(
            for: prepared, through: pipeline, delivery: delivery, sharing: sharing, observation: observation)
        let recorder = position.call?.recorder
        defer { recorder?.end() }
        do {
            if position.deadline <= 0 { throw position.overdue(phase: .notSent) }
            var response = try await pipeline.run(prepared, at: position)
            // An interceptor may have answered by itself with a stream.
            if response.body.bytes == nil { try await position.deliver(&response) }
            if delivery == .streamed { position.limitBody(of: &response) }
            response.record = recorder
            response.decoder = configuration.decoder
            return response
        } catch {
            throw completed(error, of: prepared, record: recorder)
        }
    }

    /// Where a call begins, whose deadline is the earlier of its own and that of a call within which it is made.
    ///
    /// Apart, since what it needs all calls would have to keep while they wait.
    @inline(never)
    private func position(
        for request: HTTPRequest, through pipeline: Pipeline, delivery: BodyDelivery, sharing: (any ExchangeSharing)?,
        observation: CallObservation?
    ) -> ChainPosition {
        let recorder = configuration.recordsTrace ? TraceRecorder(pipeline.legend) : nil
        observation?.trace(by: recorder)
        let call = Call(
            owner: self, requestID: request.id, delivery: delivery, checkedURL: request.urlText, recorder: recorder,
            isRepeatable: request.isRepeatable, sharing: sharing, observation: observation)
        var position = ChainPosition(run: call)
        position.limit(deadline: request.deadline ?? configuration.deadline)
        position.limit(deadline: timeLeftOfOuterCall)
        return position
    }

    /// How much is left of the deadline of a call within which this is done, if that goes by the same clock; nil: no limit.
    private var timeLeftOfOuterCall: Duration? {
        guard let outer = ChainPosition.current, outer.deadline != .max, let clock = outer.call?.stopwatch,
            clock.isOnSameClock(as: stopwatch)
        else { return nil }
        return .nanoseconds(outer.deadline - clock.elapsedNanoseconds)
    }

    /// What ends those who would make calls for ever: the error of a call that is made after a wait, since the deadline of the call within
    /// which they do it is over by then; nil: it may be made.
    package func overdue(after delay: Duration) -> HTTPError? {
        guard let left = timeLeftOfOuterCall, left <= delay else { return nil }
        return HTTPError(
            .deadlineExceeded, "The call within which this is done leaves no time for another connection.", phase: .answered)
    }

    @inline(never)
    private func completed(_ error: any Error, of request: HTTPRequest, record: TraceRecorder?) -> any Error {
        (error as? HTTPError)?.completed(request: request, record: record, decoder: configuration.decoder) ?? error
    }

    /// The request with an absolute URL and with what the client adds.
    private func prepared(_ request: HTTPRequest) throws -> HTTPRequest {
        try request.checkMeaning()
        var prepared = request
        do {
            let url = try URLText.resolve(request.urlText, base: baseURL, query: nil)
            let defaults = baseOrigin?.matchesOrSecures(url) == false ? defaultsElsewhere : defaults
            prepared.urlText = try defaults.query(missingIn: url).map { try URLText.resolve(url, base: nil, query: $0) } ?? url
            prepared.completeHeaders(defaults: defaults)
        } catch let error as HTTPError {
            throw error.completed(request: request, record: nil, decoder: configuration.decoder)
        }
        prepared.attempt = 1
        if !prepared.redirectedFrom.isEmpty, !isUnderWay(request) { prepared.redirectedFrom = [] }
        if prepared.isAskedAgain { prepared.isAskedAgain = false }
        // Those who asked for it stand around another call.
        if prepared.onGivenUp != nil { prepared.onGivenUp = nil }
        prepared.markLimitsKept()
        return prepared
    }

    /// The client's interceptors and those of the request, unless they are at work on it already.
    private func pipeline(for request: HTTPRequest) -> Pipeline {
        let own = request.interceptors
        if own.isEmpty || isUnderWay(request) { return assembled }
        return assembled.adding(request: own)
    }

    /// Whether a request is sent on within the call that it belongs to.
    private func isUnderWay(_ request: HTTPRequest) -> Bool { ChainPosition.current?.call?.requestID == request.id }
}

extension HTTPClient: CallOwner {
    package var now: @Sendable () -> Date { configuration.now }

    package var random: @Sendable () -> Double { configuration.random }

    package var limits: RequestLimits {
        RequestLimits(
            timeout: configuration.timeout, deadline: configuration.deadline, maxRetries: configuration.givenRetries,
            deadlineCoversBody: configuration.deadlineCoversBody)
    }

    package var redaction: Redaction { configuration.redaction }

    package var decoder: any BodyDecoder { configuration.decoder }

    package func speaker(_ number: Int, for request: HTTPRequest) -> String? { arbiter.validatorName(number, for: request) }

    /// How long the server asks to wait by its last answer before a failure, as far as that is honoured; nil: it doesn't.
    package func waitAsked(by error: HTTPError) -> Duration? { arbiter.asked(by: error.lastResponse) }

    package func takeRetry() -> Bool { arbiter.ledger?.takeRetry() ?? true }
    package func count(resends: Int) { arbiter.ledger?.count(resends: resends) }

    package func planned(_ request: HTTPRequest, for call: Call) async throws -> PlannedRequest {
        try await assembled.planned(request) { rehearsed(request, $0, since: call.beginning) }
    }

    package func sendAlternate(
        _ request: HTTPRequest, of call: Call, sharing: any ExchangeSharing
    ) async throws -> HTTPResponse {
        try await observed(
            request, .buffered(upTo: configuration.maximumBufferedBody), observe(for: .alternate, serving: call.observation),
            sharing: sharing)
    }
}

extension HTTPRequest {
    /// Adds what the request has not set itself: the client's headers, the body's type, and credentials that stand in the URL,
    /// which leave it, so that they are treated as the secret that they are; or else those of the base URL, which links don't repeat.
    fileprivate mutating func completeHeaders(defaults: ClientDefaults) {
        let type = body.contentType
        // A client's type would take the boundary from parts.
        if let type, type.hasASCIIPrefix("multipart/"), !headers.contains(.contentType) { headers[.contentType] = type }
        headers.merge(defaults: defaults.headers)
        if let type, !headers.contains(.contentType) { headers[.contentType] = type }
        moveCredentialsToHeader()
        if let user = defaults.user, !headers.contains(.authorization) { headers[.authorization] = user }
    }
}

extension HTTPError {
    /// The error with what the client knows and the place of its origin didn't.
    fileprivate func completed(request: HTTPRequest, record: TraceRecorder?, decoder: any BodyDecoder) -> HTTPError {
        var error = befalling(request)
        // A key that an interceptor adds is another one in the next call.
        if phase != .notSent, !request.isRepeatable, self.request?.allowsUnsafeRetry != true { error.mayBeRepeated = false }
        error.response?.decoder = decoder
        error.request = error.request ?? request
        error.hasEndedCall = true
        // Those of a call within this one are its own.
        error.call = nil
        let record = record ?? error.record
        error.record = record
        error.response?.record = record
        return error
    }
}

extension CallRecord {
    /// The client that made the call, as long as there is one.
    package var client: HTTPClient? { contents.source.client as? HTTPClient }
}
