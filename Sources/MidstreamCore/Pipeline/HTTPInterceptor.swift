public import Interception

/// An interceptor of HTTP requests and responses: the form that every feature of the client has.
///
/// Implement ``intercept(_:next:)`` for full control, or one of the refinements: ``RequestInterceptor``, ``ResponseInterceptor``,
/// ``LifecycleInterceptor``. One instance serves all calls of a client at once.
public protocol HTTPInterceptor: Interceptor where Input == HTTPRequest, Output == HTTPResponse {
    /// Where in the pipeline it belongs; `.attempt` by default, where it sees every answer of the server.
    var stage: Stage { get }

    /// Handles one request.
    ///
    /// - Parameters:
    ///   - request: As the interceptor further out passed it on. Change a copy and pass that to `next`.
    ///   - next: The rest of the pipeline; may be called not at all, once or many times.
    /// - Throws: What `next` throws, or an error of its own. It reaches the caller unchanged, unless an interceptor further out
    ///   handles it.
    func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse

    /// Says for ``HTTPClient/explain(_:)`` what ``intercept(_:next:)`` would do to a request on its way down, without doing
    /// anything that others could notice: it talks to nobody and stores nothing. Should it send something by an ``HTTPClient`` all
    /// the same, that throws ``HTTPError/Code/explaining``, and the explanation says what would have been sent.
    ///
    /// The refinements bring their own, which runs their code for requests. An interceptor that implements
    /// ``intercept(_:next:)`` itself isn't run by an explanation and is reported as unknown, unless it implements this too.
    ///
    /// - Parameter request: Changed as the request would be, as far as that can be told.
    /// - Returns: What it would do beyond that, in a few words; nil when there is nothing to say.
    /// - Throws: What would keep the request from being sent.
    func plan(_ request: inout HTTPRequest) async throws -> String?
}

extension HTTPInterceptor {
    /// `.attempt`.
    public var stage: Stage { .attempt }

    /// Says that nobody knows.
    public func plan(_ request: inout HTTPRequest) async throws -> String? { Self.unknownPlan }

    static var unknownPlan: String { "not run: it doesn't say what it would do" }

    /// The name by which pipelines, explanations and traces call the interceptor: its type's.
    package var name: String { (self as? any NamedInterceptor)?.name ?? "\(type(of: self as Any))" }
}

/// An interceptor that stands for something else and goes by that one's name.
package protocol NamedInterceptor {
    var name: String { get }
}

extension HTTPInterceptor {
    /// The interceptor as the generic core knows it; the compiler doesn't convert `any HTTPInterceptor` by itself.
    package var generic: any Interceptor<HTTPRequest, HTTPResponse> { self }
}
