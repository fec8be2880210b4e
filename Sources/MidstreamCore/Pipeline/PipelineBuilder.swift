/// Puts the interceptors of a client together from a list of expressions, in which `if`, `switch`, `for` and optionals may stand.
///
/// The order within a stage is that of the list, outermost first; the stages are sorted by the pipeline.
@resultBuilder
public enum PipelineBuilder {
    /// Several interceptors, written in their short forms. See ``ChainedHTTPInterceptor``.
    public static func buildExpression(_ chain: ChainedHTTPInterceptor) -> [any HTTPInterceptor] { [chain] }
    /// One interceptor.
    public static func buildExpression(_ interceptor: any HTTPInterceptor) -> [any HTTPInterceptor] { [interceptor] }
    /// An interceptor that may not be there.
    public static func buildExpression(_ interceptor: (any HTTPInterceptor)?) -> [any HTTPInterceptor] {
        interceptor.map { [$0] } ?? []
    }
    /// Several interceptors.
    public static func buildExpression(_ interceptors: [any HTTPInterceptor]) -> [any HTTPInterceptor] { interceptors }
    /// The list.
    public static func buildBlock(_ parts: [any HTTPInterceptor]...) -> [any HTTPInterceptor] { parts.flatMap { $0 } }
    /// `if` without `else`.
    public static func buildOptional(_ part: [any HTTPInterceptor]?) -> [any HTTPInterceptor] { part ?? [] }
    /// `if`.
    public static func buildEither(first part: [any HTTPInterceptor]) -> [any HTTPInterceptor] { part }
    /// `else`.
    public static func buildEither(second part: [any HTTPInterceptor]) -> [any HTTPInterceptor] { part }
    /// `for`.
    public static func buildArray(_ parts: [[any HTTPInterceptor]]) -> [any HTTPInterceptor] { parts.flatMap { $0 } }
    /// `if #available`.
    public static func buildLimitedAvailability(_ part: [any HTTPInterceptor]) -> [any HTTPInterceptor] { part }
}
