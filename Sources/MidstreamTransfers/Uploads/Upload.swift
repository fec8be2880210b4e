internal import Interception
internal import MidstreamCore
internal import MidstreamPlatform
internal import MidstreamTasks

/// One upload: sends what the server hasn't got, one request after the other, until it has all.
struct Upload {
    /// The server's answers so far, interim ones included.
    private struct Told: Sendable {
        var url: String?
        /// Whether the upload's URL can't be used, since it would send the rest in clear text.
        var isUnsafe = false
        var limit: UploadLimit?
        var limitTime = Duration.zero
        /// The end of what has been handed to the transport, of all requests.
        var sent: Int64 = 0
    }

    private enum Step {
        case done(HTTPResponse)
        case goOn
        /// Something that may pass.
        case failed(HTTPError)
    }

    private let settings: UploadInterceptor
    private let request: HTTPRequest
    private let next: Next<HTTPRequest, HTTPResponse>
    private let length: Int64
    private let pace: ResumptionPace
    private let stopwatch: Stopwatch
    private let told = Locked(Told())
    /// Where the server is; nil: it has to be asked.
    private var offset: Int64?
    /// How much it has confirmed.
    private var furthest: Int64 = 0
    private var hasBegun = false
    /// The content's when its beginning was sent.
    private var version: FileVersion?

    init(_ settings: UploadInterceptor, _ request: HTTPRequest, _ next: Next<HTTPRequest, HTTPResponse>) throws {
        self.settings = settings
        self.request = request
        self.next = next
        length = try settings.content.length()
        pace = ResumptionPace(of: next)
        stopwatch = Stopwatch(on: pace.clock)
    }

    mutating func run() async throws -> HTTPResponse {
        var failures = 0
        while true {
            let step: Step
            let before = furthest
            do {
                step = try await proceed()
            } catch let error as HTTPError where error.mayPass {
                step = .failed(error)
            }
            if furthest > before { failures = 0 }
            switch step {
            case .done(let response): return response
            case .goOn: break
            case .failed(let error):
                failures += 1
                guard failures <= settings.resumes, told.withLock({ $0.url }) != nil || mayBeginAgain else { throw error }
                offset = nil
                let cause = error.response.map { "\($0.status)" } ?? "\(error.code)"
                record(.transferInterruption(cause: cause, bytes: nil))
                // After a conflict the server only has to be asked, but not for ever.
                if failures > 1 || error.response?.status != .conflict { try await pace.pause(before: failures, after: error) }
            }
        }
    }

    private mutating func proceed() async throws -> Step {
        guard let url = told.withLock({ $0.url }) else { return try await create() }
        try checkLimits()
        guard let offset else { return try await ask(url) }
        return try await append(to: url, from: offset)
    }

    // MARK: The requests

    private mutating func create() async throws -> Step {
        settings.meter?.begin(.upload, at: 0, of: length, isRestart: hasBegun, on: pace.clock)
        hasBegun = true
        furthest = 0
        let (first, part) = settings.creation(by: request, of: length)
        var creation = first
        try put(part, into: &creation)
        // The upload's URL comes before it is complete.
        let (told, stopwatch, beginning) = (told, stopwatch, request.urlText)
        creation.onUploadInterim = { interim, url in
            guard interim.status.code == 104 else { return }
            Self.note(interim.headers, from: url, for: beginning, in: told, at: stopwatch.elapsed)
        }
        let (response, error) = try await send(creation)
        if response.status.isSuccess || told.withLock({ $0.url }) != nil {
            // The `Location` of a failure is no upload's place.
            let answering = response.status.isSuccess ? response.request.urlText : nil
            Self.note(response.headers, from: answering, for: beginning, in: told, at: stopwatch.elapsed)
        }
        guard response.status.isSuccess else { return try failure(response, error) }
        if try isAllConfirmed(response, assuming: self.end(of: part, confirmedBy: response)) { return .done(response) }
        guard told.withLock({ $0.url }) != nil else {
            response.body.close()
            let (count, place) = (sent(for: response), told.withLock { $0.isUnsafe } ? "found over https" : "found")
            throw response.violation(
                "The server answered after \(count) of \(length) bytes, and doesn't say where the upload is to be \(place).")
        }
        return .goOn
    }

    private mutating func ask(_ url: String) async throws -> Step {
        var question = follower(.head, url)
        settings.protocol.prepare(&question.headers)
        let (response, error) = try await send(question)
        guard response.status.isSuccess else { return try failure(response, error) }
        Self.note(response.headers, from: nil, for: request.urlText, in: told, at: stopwatch.elapsed)
        if let text = response.headers["Upload-Length"], let told = Int64(digits: text), told != length {
            throw response.violation("The server expects \(told) bytes, and the upload has \(length).")
        }
        let isComplete = settings.protocol.isComplete(response.headers)
        let isDone = try isAllConfirmed(response, assuming: isComplete == true ? told.withLock { $0.sent } : nil)
        guard let offset else { throw response.violation("The server doesn't say how much it has.") }
        settings.meter?.begin(.upload, at: offset, of: length, isRestart: false, on: pace.clock)
        record(.transferResumption(offset: offset, total: length, proof: nil))
        // A server that reports no completion waits for the end.
        return isDone && (isComplete == true || !settings.protocol.createsWithContent) ? .done(response) : .goOn
    }

    private mutating func append(to url: String, from start: Int64) async throws -> Step {
        let limit =
            [settings.partSize.map { max(1, $0) }, told.withLock { $0.limit?.maximumPart }].compactMap { $0 }.min() ?? .max
        let end = length - start <= limit ? length : start + limit
        var addition = follower(.patch, url)
        settings.protocol.prepareAppending(&addition.headers, offset: start, isLast: end == length)
        try put(start..<end, into: &addition)
        let (response, error) = try await send(addition)
        guard response.status.isSuccess else { return try failure(response, error) }
        Self.note(response.headers, from: nil, for: request.urlText, in: told, at: stopwatch.elapsed)
        // With tus the answer must have the offset.
        let assumed = settings.protocol.createsWithContent ? self.end(of: start..<end, confirmedBy: response) : nil
        if try isAllConfirmed(response, assuming: assumed) { return .done(response) }
        guard let offset, offset > start else {
            return .failed(response.violation("The server has taken nothing of the bytes from \(start) on."))
        }
        return .goOn
    }

    /// A request to where the upload is to be found.
    private func follower(_ method: HTTPMethod, _ url: String) -> HTTPRequest {
        var follower = request
        follower.method = method
        follower.urlText = url
        if url != request.urlText, follower.route != nil { follower.route = nil }
        follower.onInterim = nil
        // What is about the first request's body or its resource, as conditions are.
        follower.headers.removeContentFields()
        follower.headers.removeAll { name in
            let text = name.rawValue.lowercased()
            return ["upload-", "if-"].contains { text.hasPrefix($0) } || [.range, .idempotencyKey].contains(name)
        }
        if HTTPOrigin(url) != HTTPOrigin(request.urlText), follower.address != nil { follower.address = nil }
        if OriginMatch(request.urlText)?.matchesOrSecures(url) != true {
            follower.removeCredentials()
            follower.isForUploadElsewhere = true
        }
        return follower
    }

    /// The response of any status, and the error that it was made.
    private func send(_ request: HTTPRequest) async throws -> (HTTPResponse, HTTPError?) {
        let answer: HTTPResponse
        do {
            answer = try await next(request)
        } catch let error as HTTPError {
            guard error.code == .unacceptableStatus || error.code == .retriesExhausted, let response = error.response else {
                throw error
            }
            return (response, error)
        }
        // Where a redirect leads to a page, such as one to log in, the body wasn't sent.
        guard answer.request.method == request.method else {
            throw HTTPError(
                .unacceptableStatus, "A redirect has made a \(answer.request.method) of the \(request.method).",
                request: answer.request, response: answer)
        }
        return (answer, nil)
    }

    /// Gives a request some of the content.
    ///
    /// - Throws: ``HTTPError/Code/bodyUnreadable`` when the content has changed, so that the server would join two of them.
    private mutating func put(_ range: Range<Int64>, into request: inout HTTPRequest) throws {
        let present = settings.content.version()
        if range.lowerBound == 0 { version = present }
        guard present == version else {
            throw HTTPError(
                .bodyUnreadable, "The content has changed since its first \(range.lowerBound) bytes were sent.", request: request,
                phase: .maybeProcessed)
        }
        let (told, meter) = (told, settings.meter)
        request.body = settings.content.body(range)
        request.uploadObserver = { sent in
            let position = Locked(range.lowerBound)
            return HTTPBody.Observer { chunk in
                let end = position.withLock { position in
                    position += Int64(chunk.count)
                    return position
                }
                sent.withLock { $0 = max($0, end) }
                told.withLock { $0.sent = max($0.sent, end) }
                meter?.advance(to: end, wire: Int64(chunk.count))
            }
        }
    }

    // MARK: Fields of answers

    private func failure(_ response: HTTPResponse, _ error: HTTPError?) throws -> Step {
        let mayPass = response.status.code >= 500 || [408, 409, 423, 429].contains(response.status.code)
        let error = error ?? HTTPError.unacceptableStatus(response)
        guard mayPass, settings.protocol.isComplete(response.headers) != true else { throw error }
        return .failed(error)
    }

    /// Takes over where the upload is, and what is allowed.
    ///
    /// - Parameters:
    ///   - base: What the answer's `Location` is relative to; nil: that isn't the upload's place.
    ///   - first: The URL with which it began: from https it doesn't go on by http, which redirects don't either.
    private static func note(
        _ headers: HTTPHeaders, from base: String?, for first: String, in told: Locked<Told>, at time: Duration
    ) {
        let url = base.flatMap { base in headers.values(.location).first.flatMap { URLText.resolve(location: $0, from: base) } }
        let limit = headers["Upload-Limit"].flatMap { UploadLimit($0) }
        told.withLock { told in
            if let url, HTTPOrigin(first)?.scheme == "https", HTTPOrigin(url)?.scheme != "https" {
                told.isUnsafe = true
            } else {
                told.url = url ?? told.url
            }
            if let limit { (told.limit, told.limitTime) = (limit, time) }
        }
    }

    /// The end of what a request brings, which its success confirms; nil: it was answered before all of that was sent.
    private func end(of part: Range<Int64>, confirmedBy response: HTTPResponse) -> Int64? {
        part.isEmpty || sent(for: response) >= part.upperBound ? part.upperBound : nil
    }

    /// The end of what has been sent for an answer; where an interceptor has made that anew, of all that has been sent.
    private func sent(for response: HTTPResponse) -> Int64 {
        response.uploadSent?.withLock { $0 } ?? told.withLock { $0.sent }
    }

    /// Whether the server has all bytes by its answer; notes how many it has.
    ///
    /// - Parameter end: How many it has if the answer has no offset; nil: unknown.
    private mutating func isAllConfirmed(_ response: HTTPResponse, assuming end: Int64?) throws -> Bool {
        let isComplete = settings.protocol.isComplete(response.headers)
        offset = try readOffset(response) ?? (isComplete == false && end == length ? nil : end)
        if isComplete == true, offset != length {
            throw response.violation("The server says that the upload is complete with \(offset ?? 0) of \(length) bytes.")
        }
        return offset == length && isComplete != false
    }

    /// The server's offset; nil: the answer has none.
    private mutating func readOffset(_ response: HTTPResponse) throws -> Int64? {
        guard let text = response.headers["Upload-Offset"] else { return nil }
        let sent = told.withLock { $0.sent }
        guard let offset = Int64(digits: text), offset <= sent else {
            throw response.violation("The server says that it has \(text.prefix(20)) bytes, of \(sent) that were sent.")
        }
        guard offset >= furthest else {
            throw response.violation("The server says that it has \(offset) bytes, and has confirmed \(furthest).")
        }
        furthest = offset
        return offset
    }

    private func checkLimits() throws {
        let (told, since) = told.withLock { ($0.limit, $0.limitTime) }
        guard let limit = told else { return }
        if let size = limit.maximumSize, size < length {
            throw HTTPError(
                .bodyTooLarge, "The server takes \(size) bytes, and the upload has \(length).", request: request, phase: .answered
            )
        }
        if limit.maximumPart == 0 {
            throw HTTPError(.protocolViolation, "The server takes parts of no bytes.", request: request, phase: .answered)
        }
        if let age = limit.maximumAge, stopwatch.elapsed - since > .seconds(min(age, 1 << 40)) {
            throw HTTPError(
                .protocolViolation, "The server kept the upload for \(age) seconds, which are over.", request: request,
                phase: .answered)
        }
    }

    /// Whether the server can't have had all of it, or having it twice does no harm.
    private var mayBeginAgain: Bool {
        let isUnfinished = told.withLock { $0.sent < length || !settings.protocol.createsWithContent }
        return isUnfinished || request.isRepeatable
    }

    private func record(_ event: @autoclosure () -> CallEvent) { next.position.record(event, about: request) }
}
