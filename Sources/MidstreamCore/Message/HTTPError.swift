public import Foundation

/// What went wrong with a request.
///
/// Cancellation is never one of these: it surfaces as `CancellationError`. Errors of a user's interceptor or validator reach the
/// caller as they are.
///
/// ```swift
/// do {
///     user = try await client.get("users/42").value(User.self)
/// } catch HTTPError.timeout, HTTPError.connection {
///     user = lastKnown
/// }
/// ```
public struct HTTPError: Error, Sendable {
    /// The kind of failure. The set is open: match the codes that you know and have a default.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The code's name.
        public let rawValue: String
        /// Makes a code of any name; the library's own are static members.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The code's name.
        public var description: String { rawValue }

        /// Whether an error is an ``HTTPError`` of this ``HTTPError/code`` or ``HTTPError/cause``, for `catch HTTPError.timeout`.
        public static func ~= (code: Code, error: any Error) -> Bool {
            (error as? HTTPError).map { $0.code == code || $0.cause == code } ?? false
        }
    }

    /// How far a failed request had come, which decides whether it may be sent again.
    public enum Phase: String, Sendable, Hashable {
        /// No byte of it left this machine on a working connection, so the server can't have acted on it.
        case notSent
        /// It was sent in part or whole and not answered: the server may have acted on it.
        case maybeProcessed
        /// A response arrived, at least its head.
        case answered
    }

    /// One element, whose storage copies share until one is changed: each `catch` keeps room for an error in its frame.
    private var fields: ContiguousArray<Fields>

    private struct Fields: Sendable {
        let code: Code
        var phase: Phase
        var message: String
        var request: HTTPRequest?
        var response: HTTPResponse?
        var underlying: (any Error)?
        var record: (any Sendable)?
        var bodyShortfall: String?
        var isRefusedHere = false
        var isForNow = false
        var isForGood = false
        var hasEndedCall = false
        var mayBeRepeated: Bool?
        var metrics: TransportMetrics?
        var call: (any Sendable)?
    }

    /// Makes an error, as transports and tests do.
    ///
    /// - Parameters:
    ///   - message: A sentence without secrets; the code's name when empty. Its control characters are escaped, since it may quote a
    ///     server.
    ///   - phase: `.maybeProcessed` by default, the careful assumption; `.answered` when there is a response.
    public init(
        _ code: Code, _ message: String = "", request: HTTPRequest? = nil, response: HTTPResponse? = nil,
        underlying: (any Error)? = nil, phase: Phase? = nil
    ) {
        fields = [
            Fields(
                code: code, phase: phase ?? (response == nil ? .maybeProcessed : .answered),
                message: message.isEmpty ? code.rawValue : message.escapingControls, request: request, response: response,
                underlying: underlying, record: response?.record)
        ]
    }

    /// Makes an error with the transport's measurements of the failed exchange, otherwise as ``init(_:_:request:response:underlying:phase:)``
    /// does. An initializer of its own, since they are large: each task that waits and may fail would keep room for them.
    public init(
        _ code: Code, _ message: String = "", request: HTTPRequest? = nil, response: HTTPResponse? = nil,
        underlying: (any Error)? = nil, phase: Phase? = nil, metrics: TransportMetrics?
    ) {
        self.init(code, message, request: request, response: response, underlying: underlying, phase: phase)
        fields[0].metrics = metrics
    }

    /// The kind of failure.
    public var code: Code { fields[0].code }

    /// How far the request had come. Never ``Phase/notSent`` where a call has failed that an interceptor has made by itself: the request of the
    /// call around it may have been answered before.
    public package(set) var phase: Phase {
        get { fields[0].phase }
        set { fields[0].phase = newValue }
    }

    /// What happened, in a sentence. Holds no secrets.
    public var message: String { fields[0].message }

    /// The request, as far as it was known where the error arose.
    public package(set) var request: HTTPRequest? {
        get { fields[0].request }
        set { fields[0].request = newValue }
    }

    /// The response, when there was one: for ``Code/unacceptableStatus`` with its body, which of a streamed response that validators reject
    /// is collected up to ``keptBody``. A retry that a limit, breaker or quota of this client refuses has that of the attempt before.
    public package(set) var response: HTTPResponse? {
        get { fields[0].response }
        set { fields[0].response = newValue }
    }

    /// The error behind this one.
    public var underlying: (any Error)? { fields[0].underlying }

    /// The transport's measurements of the failed exchange, or of the one answered with ``response``; nil when there are none. A phase that
    /// wasn't reached is nil.
    public package(set) var metrics: TransportMetrics? {
        get { fields[0].metrics ?? response?.metrics ?? (underlying as? HTTPError)?.metrics }
        set { fields[0].metrics = newValue }
    }

    /// The trace, which has a type that this folder doesn't know.
    package var record: (any Sendable)? {
        get { fields[0].record }
        set { fields[0].record = newValue }
    }

    /// The record of the call, which has a type that this folder doesn't know.
    var call: (any Sendable)? {
        get { fields[0].call }
        set { fields[0].call = newValue }
    }

    /// Whether the request was refused on this side, which carries no signal about the server, whatever the code.
    package var isRefusedHere: Bool { fields[0].isRefusedHere }

    /// The same error, marked as a refusal by this side.
    package var refusedHere: HTTPError { marked { $0.isRefusedHere = true } }

    /// The same error as what reading a request's body has failed with: it may be that of an exchange by which the body was made, and says
    /// nothing of the one that the body is sent in, of which a part may have left.
    package var ofRequestBody: HTTPError {
        var error = refusedHere
        error.phase = .maybeProcessed
        return error
    }

    /// Whether what goes on by itself may succeed later, whatever the code. It alone is no reason for a retry.
    package var isForNow: Bool { fields[0].isForNow }

    /// The same error, marked as one that holds for now.
    package var forNow: HTTPError { marked { $0.isForNow = true } }

    /// Whether no call that is made later can succeed, whatever the code.
    package var isForGood: Bool { fields[0].isForGood }

    /// The same error, marked as one that holds for good.
    package var forGood: HTTPError { marked { $0.isForGood = true } }

    private func marked(_ mark: (inout Fields) -> Void) -> HTTPError {
        var error = self
        mark(&error.fields[0])
        return error
    }

    /// Whether a call has ended with it. To whoever has a part in a call, it is then the failure of another one, which an interceptor has made,
    /// perhaps of the same request: its phase and response are that one's.
    package internal(set) var hasEndedCall: Bool {
        get { fields[0].hasEndedCall }
        set { fields[0].hasEndedCall = newValue }
    }

    /// Whether the request of the present call may be sent a second time, where ``phase`` and ``request`` don't tell: they are those of a call
    /// within it, or have what an interceptor has added.
    var mayBeRepeated: Bool? {
        get { fields[0].mayBeRepeated }
        set { fields[0].mayBeRepeated = newValue }
    }

    /// Why the body of the response isn't in memory, or not the whole of it; nil: it is.
    package var bodyShortfall: String? {
        get { fields[0].bodyShortfall }
        set { fields[0].bodyShortfall = newValue }
    }
}

extension HTTPError.Code {
    /// The URL, a header, the method or an option can't be sent. Nothing left the machine.
    public static let invalidRequest = Self(rawValue: "invalidRequest")
    /// The host's name wasn't found.
    public static let nameResolution = Self(rawValue: "nameResolution")
    /// No connection could be made.
    public static let connection = Self(rawValue: "connection")
    /// None of the host's addresses is one that the transport may connect to, as it was configured. Nothing left the machine.
    public static let forbiddenDestination = Self(rawValue: "forbiddenDestination")
    /// The TLS handshake or a certificate check failed.
    public static let tls = Self(rawValue: "tls")
    /// The proxy refused, or could not be spoken to.
    public static let proxy = Self(rawValue: "proxy")
    /// An attempt, or a phase of it, took longer than allowed.
    public static let timeout = Self(rawValue: "timeout")
    /// The whole call took longer than its deadline, or the body of one that is covered by it.
    public static let deadlineExceeded = Self(rawValue: "deadlineExceeded")
    /// The connection broke before the response was complete.
    public static let connectionLost = Self(rawValue: "connectionLost")
    /// The server sent something that isn't HTTP, or contradicts itself.
    public static let protocolViolation = Self(rawValue: "protocolViolation")
    /// The redirect limit was reached, or redirects ran in a circle; carries the last response.
    public static let tooManyRedirects = Self(rawValue: "tooManyRedirects")
    /// The status isn't one that the validator accepts; carries the response with its body.
    public static let unacceptableStatus = Self(rawValue: "unacceptableStatus")
    /// The response has no body, and the validator demands one.
    public static let emptyResponse = Self(rawValue: "emptyResponse")
    /// The body is larger than what may be held in memory.
    public static let bodyTooLarge = Self(rawValue: "bodyTooLarge")
    /// The request would have to be sent again, and its body can be read only once.
    public static let bodyNotReplayable = Self(rawValue: "bodyNotReplayable")
    /// The request's body can't be read, or isn't as long as was said.
    public static let bodyUnreadable = Self(rawValue: "bodyUnreadable")
    /// The file that a response was to be written to can't be made, written or put in its place, or there is no room for it.
    public static let fileUnwritable = Self(rawValue: "fileUnwritable")
    /// The response's body isn't what was to be decoded.
    public static let decoding = Self(rawValue: "decoding")
    /// A validator's own work failed.
    public static let validation = Self(rawValue: "validation")
    /// Every allowed attempt failed, or the client's budget for retries is used up; carries the last response and the last reason.
    public static let retriesExhausted = Self(rawValue: "retriesExhausted")
    /// Credentials could not be obtained or were refused.
    public static let authentication = Self(rawValue: "authentication")
    /// An interceptor tried to send something while ``HTTPClient/explain(_:)`` or `Coalescing` planned a request. Nothing left the machine.
    public static let explaining = Self(rawValue: "explaining")
    /// Something the transport can't do.
    public static let unsupported = Self(rawValue: "unsupported")
    /// A body has another digest than the expected one.
    public static let digestMismatch = Self(rawValue: "digestMismatch")
    /// Not sent, since the circuit breaker of its origin is open: see `CircuitBreaker`. The client doesn't retry it.
    public static let circuitOpen = Self(rawValue: "circuitOpen")
    /// Not sent, since as many requests as the limit allows are under way: see `ConcurrencyLimit`. The client doesn't retry it.
    public static let overloaded = Self(rawValue: "overloaded")
    /// Not sent, since the quota of its origin is used up for longer than it may wait: see `RateLimit`. The client doesn't retry it.
    public static let rateLimited = Self(rawValue: "rateLimited")
}

extension HTTPError {
    /// The code of the last attempt's failure: of the error behind ``Code/retriesExhausted`` or ``Code/bodyNotReplayable``, otherwise
    /// ``code``.
    ///
    /// ```swift
    /// do {
    ///     user = try await client.get("users/42").value(User.self)
    /// } catch let error as HTTPError where error.cause == .timeout {
    ///     user = lastKnown
    /// }
    /// ```
    public var cause: Code {
        switch code {
        case .retriesExhausted, .bodyNotReplayable: (underlying as? HTTPError)?.cause ?? code
        default: code
        }
    }

    /// How much of the body of a rejected response is collected, when it was to be streamed: 64 KiB.
    public static let keptBody = 64 << 10

    /// The error with the response as it is after its body was looked at.
    ///
    /// - Parameter shortfall: Why its body isn't in memory, or not the whole of it.
    package func withResponse(_ response: HTTPResponse, shortfall: String?) -> HTTPError {
        var error = self
        error.response = response
        error.bodyShortfall = shortfall
        if let shortfall { error.fields[0].message += " \(shortfall)" }
        // Behind "retries exhausted" stands the refusal of the same response.
        if let cause = underlying as? HTTPError, let other = cause.response, other.body.bytes == nil {
            error.fields[0].underlying = cause.withResponse(response, shortfall: shortfall)
        }
        return error
    }

    /// The error of a part whose time was what others had left of the whole.
    package func pastDeadline(_ allowed: Duration) -> HTTPError {
        var error = self
        error.fields[0].message = HTTPError.pastDeadline(allowed, phase: phase).message
        return error
    }

    /// The error with other requests in it, and in what stands behind it.
    package func mapRequests(_ change: (HTTPRequest) -> HTTPRequest) -> HTTPError {
        var error = self
        error.request = request.map(change)
        if let response { error.response?.request = change(response.request) }
        if let cause = underlying as? HTTPError { error.fields[0].underlying = cause.mapRequests(change) }
        return error
    }

    /// What a request or a configuration asks for, and nobody here can do.
    package static func unsupported(_ message: String, request: HTTPRequest? = nil) -> HTTPError {
        HTTPError(.unsupported, message, request: request, phase: .notSent)
    }

    package static func tls(_ message: String) -> HTTPError { HTTPError(.tls, message, phase: .notSent) }

    package static let transportClosed =
        HTTPError(.connection, "The transport has been closed.", phase: .notSent).refusedHere.forGood

    package static func tooLarge(limit: Int) -> HTTPError {
        HTTPError(.bodyTooLarge, "The body is larger than the limit of \(limit) bytes.", phase: .answered)
    }

    package static func timedOut(phase: Phase = .maybeProcessed) -> HTTPError {
        HTTPError(.timeout, "The attempt took longer than its timeout allows.", phase: phase)
    }

    package static func pastDeadline(_ allowed: Duration, phase: Phase) -> HTTPError {
        HTTPError(.deadlineExceeded, "The call took longer than \(allowed).", phase: phase)
    }

    package static func bodyClosed() -> HTTPError {
        HTTPError(.connectionLost, "The body was closed before its end.", phase: .answered)
    }

    /// - Parameter phase: That of a response's body by default. One that is to be sent hasn't been yet.
    package static func alreadyRead(phase: Phase = .answered) -> HTTPError {
        HTTPError(.bodyNotReplayable, "The body can be read only once, and it has been read.", phase: phase)
    }

    package static func beingRead() -> HTTPError {
        HTTPError(.bodyNotReplayable, "The body is being read by another task.", phase: .answered)
    }
}

extension HTTPError: CustomStringConvertible, CustomDebugStringConvertible, LocalizedError, CustomReflectable {
    /// The code, the message, the request line and the status; secrets withheld.
    public var description: String { description(by: Redaction()) }

    /// The same, as somebody shows it who has a redaction of their own.
    package func description(by redaction: Redaction) -> String {
        var text = "\(code): \(message)"
        if let request { text += " [\(request.line(by: redaction))]" }
        if let response { text += " [\(response.status)]" }
        if let underlying = underlying as? HTTPError {
            text += " (\(underlying.code): \(underlying.message))"
        } else if let underlying {
            text += " (\(type(of: underlying)))"
        }
        return redaction.ownText(text)
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The message, for people.
    public var errorDescription: String? { message }

    /// Shows what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["error": description]) }
}
