internal import Interception

/// What belongs to one call and is shared by all its attempts.
package final class Call: Sendable {
    package let delivery: BodyDelivery
    package let pipeline: Pipeline
    /// The URL that was resolved and checked when the call began.
    package let checkedURL: String
    /// The origin of the client's base URL, which credentials are meant for unless they say otherwise.
    let baseOrigin: OriginMatch?
    package let recorder: TraceRecorder?
    package let stopwatch: Stopwatch
    /// Responses of this call whose bodies may still be arriving. One that a second exchange takes the place of is closed.
    private let openBodies: Locked<[HTTPBody]>?

    init(
        delivery: BodyDelivery, pipeline: Pipeline, checkedURL: String, baseOrigin: OriginMatch? = nil,
        clock: any Clock<Duration>, isTraced: Bool
    ) {
        self.baseOrigin = baseOrigin
        self.delivery = delivery
        self.pipeline = pipeline
        self.checkedURL = checkedURL
        recorder = isTraced ? TraceRecorder(pipeline: pipeline) : nil
        stopwatch = Stopwatch(on: clock)
        openBodies = delivery == .streamed ? Locked([]) : nil
    }

    func opened(_ body: HTTPBody) {
        guard body.incoming != nil else { return }
        openBodies?.withLock { $0.append(body) }
    }

    func closeOpenBodies() {
        guard let openBodies else { return }
        let bodies = openBodies.withLock { bodies in
            defer { bodies = [] }
            return bodies
        }
        for body in bodies { body.close() }
    }
}
