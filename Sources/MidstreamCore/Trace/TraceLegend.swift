/// What the numbers in a recording stand for: the pipeline's interceptors by place, and the transport behind the last one.
package final class TraceLegend: Sendable {
    /// What a trace says about one interceptor.
    package struct Entry: Sendable {
        package let name: String
        package let stage: InterceptorStage
        package let scope: InterceptorScope

        package init(name: String, stage: InterceptorStage, scope: InterceptorScope) {
            self.name = name
            self.stage = stage
            self.scope = scope
        }
    }

    package let entries: [Entry]
    package let transport: String

    package init(_ entries: [Entry], transport: String) {
        self.entries = entries
        self.transport = transport
    }
}
