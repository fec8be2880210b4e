internal import Interception

/// Records a call cheaply: numbers in an array, and a snapshot of a message only when an interceptor has changed it. ``TraceAssembly``
/// makes spans of them on demand.
package struct TraceRecorder: Sendable {
    /// One pass through an interceptor or the transport.
    struct Pass {
        let element: Int32
        let parent: Int32
        let start: UInt64
        var end: UInt64 = 0
        let request: Int32
        var response: Int32 = -1
        var failure: Int32 = -1
    }

    /// A note within a pass, or an event and its description.
    struct Remark {
        let pass: Int32
        let time: UInt64
        let text: String
        let event: CallEvent?

        func shown(by redaction: Redaction) -> String {
            event.map { redaction.own($0, text).description } ?? redaction.ownText(text)
        }
    }

    struct Recording {
        let legend: TraceLegend
        let start: UInt64
        var passes: [Pass] = []
        var requests = Versions<RequestSnapshot>()
        /// The last request; nil after the call, since it would keep its body alive.
        var lastRequest: HTTPRequest?
        var responses = Versions<ResponseSnapshot>()
        var failures: [String] = []
        var remarks: [Remark] = []
        /// How many passes weren't kept.
        var dropped = 0

        /// Records the events of a pass through the transport.
        mutating func note(_ metrics: @autoclosure () -> TransportMetrics?, pass: Int32) {
            guard passes[Int(pass)].element == legend.pipeline.entries.count, let metrics = metrics() else { return }
            for event in metrics.events {
                add(Remark(pass: pass, time: passes[Int(pass)].end, text: event.description, event: event))
            }
        }

        mutating func add(_ remark: Remark) {
            if remarks.count < TraceRecorder.maximumPasses { remarks.append(remark) }
        }

        /// Keeps a snapshot of a changed request.
        ///
        /// - Returns: The one before it, which is let go of outside of the lock: the end of its body may be told to a user's closure.
        mutating func see(_ request: HTTPRequest) -> HTTPRequest? {
            if let lastRequest, request.isUnchanged(since: lastRequest) { return nil }
            if !requests.isLast({ $0.isOf(request) }) { requests.append(RequestSnapshot(request)) }
            defer { lastRequest = request }
            return lastRequest
        }
    }

    /// More aren't kept, so that endless retries can't fill the memory.
    static let maximumPasses = 2_000

    private let recording: Locked<Recording>

    package init(_ legend: TraceLegend) {
        recording = Locked {
            var empty = Recording(legend: legend, start: Self.now)
            empty.passes.reserveCapacity(legend.pipeline.entries.count + 2)
            return empty
        }
    }

    private static var now: UInt64 { UInt64(bitPattern: continuousNanoseconds()) }

    var snapshot: Recording { recording.withLock { $0 } }

    /// Releases values that are needed only while the call runs.
    package func end() { _ = recording.withLock { $0.lastRequest.take() } }

    package func begin(_ element: Int32, _ request: HTTPRequest, within parent: Int32) -> Int32 {
        let now = Self.now
        let (pass, _) = recording.withLock { recording -> (Int32, HTTPRequest?) in
            guard recording.passes.count < Self.maximumPasses else {
                recording.dropped += 1
                return (-1, nil)
            }
            let former = recording.see(request)
            recording.passes.append(
                Pass(element: element, parent: parent, start: now, request: Int32(recording.requests.count - 1)))
            return (Int32(recording.passes.count - 1), former)
        }
        return pass
    }

    package func end(_ pass: Int32, _ response: HTTPResponse) {
        guard pass >= 0 else { return }
        let now = Self.now
        recording.withLock { recording in
            if !recording.responses.isLast({ $0.isOf(response) }) { recording.responses.append(ResponseSnapshot(response)) }
            recording.passes[Int(pass)].end = now
            recording.passes[Int(pass)].response = Int32(recording.responses.count - 1)
            recording.note(response.metrics, pass: pass)
        }
    }

    package func end(_ pass: Int32, _ error: any Error) {
        guard pass >= 0 else { return }
        let now = Self.now
        let text = Self.text(of: error)
        recording.withLock { recording in
            if recording.failures.last != text { recording.failures.append(text) }
            recording.passes[Int(pass)].end = now
            recording.passes[Int(pass)].failure = Int32(recording.failures.count - 1)
            recording.note((error as? HTTPError)?.metrics, pass: pass)
        }
    }

    package func remark(_ text: String, _ event: CallEvent?, pass: Int32) {
        guard pass >= 0 else { return }
        let remark = Remark(pass: pass, time: Self.now, text: text, event: event)
        recording.withLock { $0.add(remark) }
    }

    /// The error's text, since the error may hold the request and with it this recorder. Of an unknown error only the name, since its
    /// description may hold secrets.
    package static func text(of error: any Error) -> String {
        if let error = error as? HTTPError { return "\(error.code): \(error.message)" }
        if error is CancellationError { return "cancelled" }
        let type = "\(type(of: error))"
        guard Mirror(reflecting: error).displayStyle == .enum else { return type }
        let label = Mirror(reflecting: error).children.first?.label ?? "\(error)"
        return label.isToken ? "\(type).\(label)" : type
    }
}
