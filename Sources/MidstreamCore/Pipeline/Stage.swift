/// The three places of a pipeline in which interceptors stand.
public enum Stage: String, Comparable, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    /// Once per call, around all attempts. The validators have spoken: failures arrive as errors.
    case call
    /// Once per attempt, redirects included.
    case attempt
    /// Once per exchange on the wire: each redirect's request passes anew.
    case exchange

    /// The outer stage comes first.
    public static func < (a: Stage, b: Stage) -> Bool { a.depth < b.depth }

    /// The stage's name.
    public var description: String { rawValue }

    private var depth: Int {
        switch self {
        case .call: 0
        case .attempt: 1
        case .exchange: 2
        }
    }
}
