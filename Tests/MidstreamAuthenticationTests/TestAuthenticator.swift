import MidstreamTesting
import Interception
import MidstreamAuthentication
import MidstreamCore
import TestSupport

/// Gives out `token 1`, `token 2` … and lets a test hold up and break its refreshes.
final class TestAuthenticator: Authenticator {
    private struct State {
        var refreshes = 0
        var due: Set<String> = []
        var failure: (any Error)?
    }

    private let state = Locked(State())
    private let work: @Sendable (String?) async throws -> Void

    private let field: HTTPHeaders.Name
    private let prefix: String

    /// - Parameters:
    ///   - field: Where the credential is sent.
    ///   - prefix: What stands before it there.
    init(
        field: HTTPHeaders.Name = .authorization, prefix: String = "",
        _ work: @escaping @Sendable (_ old: String?) async throws -> Void = { _ in }
    ) {
        self.field = field
        self.prefix = prefix
        self.work = work
    }

    var refreshes: Int { state.withLock { $0.refreshes } }

    /// Makes refreshes fail, or succeed again.
    func fail(with error: (any Error)?) { state.withLock { $0.failure = error } }

    /// Makes a token one that should be replaced before it is used.
    func expire(_ token: String) { state.withLock { _ = $0.due.insert(token) } }

    func apply(_ credential: String, to request: inout HTTPRequest) async throws {
        request.headers.add(field, prefix + credential)
    }

    func needsRefresh(_ credential: String) -> Bool { state.withLock { $0.due.contains(credential) } }

    func refresh(_ credential: String?) async throws -> String {
        let number = state.withLock { state in
            state.refreshes += 1
            return state.refreshes
        }
        try await work(credential)
        if let failure = state.withLock({ $0.failure }) { throw failure }
        return "token \(number)"
    }
}

struct LoginFailed: Error, Equatable {}

extension HTTPClient {
    /// A client with the interceptor alone.
    static func authenticated(
        by interceptor: AuthenticationInterceptor<TestAuthenticator>, _ transport: any HTTPTransport,
        clock: any Clock<Duration> = ContinuousClock()
    ) -> HTTPClient {
        testClient(baseURL: "https://api.example", configuration: .init(clock: clock), transport: transport) { interceptor }
    }
}

extension StubTransport {
    /// Answers 200 to requests with one of these credentials and 401 to others.
    static func accepting(_ tokens: String...) -> StubTransport {
        StubTransport { request in
            let isAccepted = request.headers[.authorization].map(tokens.contains) ?? false
            return HTTPResponse(status: isAccepted ? .ok : .unauthorized, request: request)
        }
    }

    /// The credentials that were sent, in order; an empty text for none.
    var credentials: [String] { requests.map { $0.headers[.authorization] ?? "" } }
}

extension Result {
    /// The error; nil for a value.
    var errorOfCall: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
