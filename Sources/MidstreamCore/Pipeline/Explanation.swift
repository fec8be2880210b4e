/// What sending a request would do: who would see it in which order, what each would change, and how it would go on the wire.
public struct Explanation: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// One interceptor that the request would pass.
    public struct Step: Sendable, Hashable {
        /// The interceptor's name.
        public let name: String
        /// The stage that it stands at.
        public let stage: InterceptorStage
        /// Who put it into the pipeline.
        public let scope: InterceptorScope
        /// What it would change about the request, such as `+ X-Request-ID: 42`; secret values withheld.
        public let changes: [String]
        /// What it would do beyond that, and whether the request is known after it.
        public let plan: RequestPlan
    }

    /// What the client itself adds before the first interceptor: its base URL, headers and query.
    public let clientChanges: [String]
    /// The interceptors, outermost first.
    public let steps: [Step]
    /// The request as the transport would be given it. The transport adds what belongs to the wire: `Host`, `Content-Length` or
    /// `Transfer-Encoding`, and an `Accept-Encoding` unless there is one.
    public let request: HTTPRequest
    /// The name of the transport's type.
    public let transport: String
    /// How long one attempt may take; nil: as long as it likes.
    public let timeout: Duration?
    /// How long the whole call may take; nil: as long as it likes.
    public let deadline: Duration?
    /// How many times it may be retried.
    public let maxRetries: Int
    /// What would be done about redirects.
    public let redirects: RedirectPolicy
    /// The interceptor that would answer by itself, so that nothing would be sent; nil: none.
    public let answeredBy: String?
    /// What is withheld of it.
    let redaction: Redaction
    /// Whether the body could be sent a second time.
    public var replayability: HTTPBody.Replayability { request.body.replayability }

    /// The plan, stage by stage, and the request as it would go on the wire; secrets withheld.
    public var description: String {
        var lines = [request.line(by: redaction), "client"] + clientChanges.map { "    \($0)" }
        for stage in InterceptorStage.allCases {
            lines.append("\(stage)")
            for step in steps where step.stage == stage {
                lines.append("  \(step.name)\(step.scope.mark)")
                lines += step.changes.map { "    \($0)" }
                if let text = step.plan.text { lines.append("    · \(redaction.ownText(text))") }
            }
        }
        if let answeredBy {
            lines += ["would send nothing", "  answered by \(answeredBy)"]
        } else {
            lines += ["transport", "  \(transport)", "would send"]
            lines += request.lines(by: redaction).map { "  \($0)" }
        }
        lines.append("limits")
        lines.append("  attempt \(timeout.map { "\($0)" } ?? "unlimited"), call \(deadline.map { "\($0)" } ?? "unlimited")")
        lines.append("  \(maxRetries) retries, body \(replayability == .replayable ? "can" : "can't") be sent again")
        lines.append("  \(redirects)")
        return lines.joined(separator: "\n")
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Shows what ``description`` shows: the parts don't know what the client withholds.
    public var customMirror: Mirror { Mirror(self, children: ["explanation": description]) }
}
