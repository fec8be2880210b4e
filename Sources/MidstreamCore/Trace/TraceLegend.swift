/// What is behind a recording's numbers: the pipeline's interceptors by place, and the transport behind the last one; and what isn't shown.
package final class TraceLegend: Sendable {
    package let pipeline: PipelineDescription
    let redaction: Redaction

    init(_ pipeline: PipelineDescription, redaction: Redaction) {
        self.pipeline = pipeline
        self.redaction = redaction
    }
}
