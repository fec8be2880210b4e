/// The names behind a recording's numbers: the pipeline's interceptors by place, and the transport behind the last one; and what isn't shown.
package final class TraceLegend: Sendable {
    /// One interceptor in a trace.
    package struct Entry: Sendable {
        package let name: String
        package let stage: InterceptorStage
        package let scope: InterceptorScope
    }

    package let entries: [Entry]
    package let transport: String
    let redaction: Redaction

    init(_ entries: [Entry], transport: String, redaction: Redaction) {
        self.entries = entries
        self.transport = transport
        self.redaction = redaction
    }
}
