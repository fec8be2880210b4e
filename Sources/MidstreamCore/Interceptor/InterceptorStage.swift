/// The three places of a pipeline in which interceptors stand.
public enum InterceptorStage: String, Comparable, Sendable, Hashable, CaseIterable, CustomStringConvertible, Codable {
    /// Once per call, around all attempts. The validators have spoken: failures arrive as errors.
    case call
    /// Once per attempt, redirects included.
    case attempt
    /// Once per exchange on the wire: each redirect's request passes anew.
    case exchange

    /// The outer stage comes first.
    public static func < (a: InterceptorStage, b: InterceptorStage) -> Bool { a.depth < b.depth }

    /// The stage's name.
    public var description: String { rawValue }

    private var depth: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// Who put an interceptor into a pipeline.
public enum InterceptorScope: String, Sendable, Hashable, Codable {
    /// The request: it serves this request alone.
    case request
    /// The client: it serves all requests.
    case client
    /// The library: it is always there.
    case builtIn
}

extension InterceptorScope {
    /// What stands behind an interceptor's name: nothing for one of the client, as most are.
    var mark: String {
        switch self {
        case .request: "  (of the request)"
        case .client: ""
        case .builtIn: "  (built in)"
        }
    }
}
