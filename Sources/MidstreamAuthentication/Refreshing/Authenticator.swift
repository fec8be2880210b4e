public import MidstreamCore

/// Knows one kind of credential: how a request carries it, how a server refuses it, and how a new one is obtained.
///
/// It decides nothing about when to refresh and whom to keep waiting; that is ``AuthenticationInterceptor``'s work. An
/// authenticator is shared by all calls of a client and may be asked from any task.
public protocol Authenticator: Sendable {
    /// What requests carry: a token, a pair of tokens, a session.
    associatedtype Credential: Sendable

    /// Whether a request that has an `Authorization` of its own keeps that and gets no credential; false by default. Always the same.
    ///
    /// Such a request is sent as it is: ``apply(_:to:)`` isn't called, the request waits for no refresh and belongs to no login, and a
    /// rejection is the answer. To caches, shared calls and quotas it is nobody's beyond that field.
    var keepsOwnAuthorization: Bool { get }

    /// A credential that is there without anybody being asked, for an interceptor that is given none; nil by default.
    ///
    /// - Throws: An error, which counts as no credential: ``refresh(_:)`` will throw it to the waiting callers.
    func fixedCredential() throws -> Credential?

    /// Puts a credential on a request. Called for each send, with the request as it was before any credential.
    ///
    /// It only changes the request and talks to nobody. A header that isn't one of the usual ones
    /// (``HTTPHeaders/Name/isSensitive``) has to be marked by ``HTTPHeaders/markSensitive(_:)``, or it shows up in traces and
    /// follows redirects to other origins.
    ///
    /// - Throws: An error, which ends the call and reaches the caller unchanged.
    func apply(_ credential: Credential, to request: inout HTTPRequest) async throws

    /// Whether a response rejects the credential, so that another one would help; by default when its status
    /// is 401.
    ///
    /// Only asked about responses to requests that went to one of the credential's origins and still carried it.
    func isRejected(_ response: HTTPResponse, using credential: Credential) -> Bool

    /// Whether the credential should be replaced before it is used, such as shortly before it expires; false by default.
    ///
    /// Asked for each send. A credential that has just been obtained is used whatever the answer.
    func needsRefresh(_ credential: Credential) -> Bool

    /// Obtains a new credential.
    ///
    /// Runs once for all calls that need it, in a task of its own that a caller's cancellation doesn't reach. It may use the
    /// client that it serves: requests that it sends from its own task, or from child tasks, pass this interceptor untouched.
    /// Those of a detached task would wait for the refresh like any other.
    ///
    /// - Parameter credential: The one to be replaced; nil when there is none yet.
    /// - Throws: An error, which the waiting calls get as ``HTTPError/underlying`` of ``HTTPError/Code/authentication``.
    func refresh(_ credential: Credential?) async throws -> Credential

    /// Keeps the credential beyond the life of the process; nil forgets what was kept. Does nothing by default.
    ///
    /// Called with what a refresh has brought and with what was set, one at a time, and always in the end with the present credential:
    /// what a refresh brings after a logout or another login never comes here. So ``refresh(_:)`` shouldn't save by itself. It is cancelled
    /// after 60 s by the interceptor's clock, and has failed then. It has to end when it is cancelled: all later saving waits for it, and so do
    /// logins and logouts.
    ///
    /// - Throws: An error. The credential is used all the same, and saved again with later requests, not more often than after 100 ms
    ///   and then twice the time up to 5 s.
    func save(_ credential: Credential?) async throws
}

extension Authenticator {
    /// False.
    public var keepsOwnAuthorization: Bool { false }

    /// Whether the status is 401 (RFC 9110 §15.5.2).
    public func isRejected(_ response: HTTPResponse, using credential: Credential) -> Bool {
        response.status == .unauthorized
    }

    /// None.
    public func fixedCredential() throws -> Credential? { nil }

    /// Nothing.
    public func save(_ credential: Credential?) async throws {}

    /// False.
    public func needsRefresh(_ credential: Credential) -> Bool { false }
}
