public import MidstreamCore

/// What any interceptor has to keep to, so that it can stand in a pipeline with others.
public enum InterceptorLaw: String, Sendable, Hashable, CaseIterable {
    /// The bytes of the request's and of the response's body arrive as they were sent, whether they are buffered, streamed, or can be read
    /// a single time.
    case preservesBodies
    /// Cancelling the call ends it with `CancellationError`, and what lies further in is cancelled as well.
    case passesCancellation
    /// One instance serves many calls at once, each of which gets its own answer.
    case isReusableConcurrently
    /// A response that it hands on is open; one that it keeps back is closed, so that its connection is released.
    case closesWhatItKeepsBack
    /// An error from further in reaches the caller as it is.
    case passesErrors
    /// A request is sent, and as its plan leaves it, if that is ``RequestPlan/known(_:)``.
    case plansWhatItDoes
    /// With the trait ``InterceptorTraits/endsInTime`` it ends by itself when the call's deadline has passed, also when several calls pass
    /// through it at once, and when the server has asked to wait.
    case endsInTime
    /// With the trait ``InterceptorTraits/impersonal`` it sends no secrets, and no items in the query, that the request given to it didn't
    /// have, whoever makes it, also after a request that was rejected.
    case impersonal
}

/// An interceptor broke a law.
public struct InterceptorLawViolation: Error, Hashable, CustomStringConvertible {
    /// The law.
    public let law: InterceptorLaw
    /// The interceptor's type.
    public let interceptor: String
    /// What was expected and what happened.
    public let description: String
}

/// Checks that an interceptor keeps to the laws, over a transport that answers without a network.
///
/// ```swift
/// @Test func laws() async throws {
///     try await assertInterceptorLaws(of: { MyInterceptor() })
/// }
/// ```
///
/// Takes milliseconds for an interceptor that keeps to them. One that ignores cancellation makes the check hang: give the test a
/// time limit.
///
/// - Parameters:
///   - laws: Which to check; all by default. Leave out what the interceptor is there to break: one that decompresses bodies doesn't
///     preserve them, one that falls back on a cache doesn't pass errors.
///   - request: A request that the interceptor lets through; the URL is of no importance to the transport. Give it a body in
///     memory when the interceptor has to know the bytes, as one that signs does; without one, bodies that are streamed are tried.
///   - make: Makes the interceptor, anew for each law.
/// - Throws: ``InterceptorLawViolation`` for the first law that is broken.
public func assertInterceptorLaws(
    _ laws: Set<InterceptorLaw> = Set(InterceptorLaw.allCases),
    request: HTTPRequest = HTTPRequest("http://laws.test/"),
    of make: @Sendable () -> any HTTPInterceptor
) async throws {
    for law in InterceptorLaw.allCases where laws.contains(law) {
        let trial = InterceptorTrial(law: law, interceptor: make(), request: request)
        switch law {
        case .preservesBodies: try await trial.preservesBodies()
        case .passesCancellation: try await trial.passesCancellation()
        case .isReusableConcurrently: try await trial.isReusableConcurrently()
        case .closesWhatItKeepsBack: try await trial.closesWhatItKeepsBack()
        case .passesErrors: try await trial.passesErrors()
        case .plansWhatItDoes: try await trial.plansWhatItDoes()
        case .endsInTime: try await trial.endsInTime()
        case .impersonal: try await trial.impersonal()
        }
    }
}
