/// The order in which a request passes through a client, for people to read.
public struct PipelineDescription: Sendable, CustomStringConvertible {
    /// One interceptor of the pipeline.
    public struct Entry: Sendable, Hashable {
        /// The interceptor's name.
        public let name: String
        /// The stage that it stands at.
        public let stage: InterceptorStage
        /// Who put it there.
        public let scope: InterceptorScope
    }

    /// The interceptors, outermost first.
    public let entries: [Entry]
    /// The name of the transport's type.
    public let transport: String

    /// A line for each interceptor under the heading of its stage, outermost first, the transport last.
    public var description: String {
        var lines: [String] = []
        for stage in InterceptorStage.allCases {
            lines.append("\(stage)")
            for entry in entries where entry.stage == stage {
                lines.append("  \(entry.name)\(entry.scope.mark)")
            }
        }
        return (lines + ["transport", "  \(transport)"]).joined(separator: "\n")
    }
}
