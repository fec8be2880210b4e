/// What was done to a request and its response: by whom, in what order, and how long it took.
///
/// Recorded while the call runs, worked out when it is looked at; so looking again later may show more of a call that still runs.
/// Values of secret headers aren't in it. It keeps neither the client nor any body alive.
public struct Trace: Sendable {
    private let recorder: TraceRecorder?

    package init(_ recorder: TraceRecorder?) { self.recorder = recorder }

    /// One pass through an interceptor or the transport.
    public struct Span: Sendable, Hashable, Codable {
        /// The interceptor's name, or the transport's.
        public let name: String
        /// The stage that it stands at; nil for the transport.
        public let stage: InterceptorStage?
        /// Who put it into the pipeline.
        public let scope: InterceptorScope
        /// Which attempt it belongs to; 1 is the first.
        public let attempt: Int
        /// When it began, in nanoseconds from the start of the call.
        public let startNanoseconds: UInt64
        /// How long it took, everything further in included; nil while it runs.
        public let nanoseconds: UInt64?
        /// The method and URL that it was given.
        public let request: String
        /// What it changed about the request before passing it on, such as `+ X-Request-ID: 42` or `url: …`.
        public let requestChanges: [String]
        /// What it changed about the response before handing it back.
        public let responseChanges: [String]
        /// What it said itself about what it did and why: notes, and the descriptions of events.
        public let notes: [String]
        /// The events that it recorded, in their order.
        public let events: [Event]
        /// The status that it returned; nil when it threw or still runs.
        public let status: Int?
        /// What it threw, in words.
        public let failure: String?
        /// The passes further in, one for each time that it called `next`. Empty for an interceptor: it answered by itself.
        public let children: [Span]
        /// Whether another pass with the same parent was under way at the same time.
        public let isConcurrent: Bool
        /// Whether its response is the one that its parent handed back, perhaps changed, when that had more than one; the last one
        /// when that can't be told.
        public let cameUp: Bool

        /// Whether it answered without asking further in.
        public var isShortCircuit: Bool { stage != nil && children.isEmpty && status != nil }
        /// When it began, from the start of the call.
        public var start: Duration { .nanoseconds(Int64(clamping: startNanoseconds)) }
        /// How long it took; nil while it runs.
        public var duration: Duration? { nanoseconds.map { .nanoseconds(Int64(clamping: $0)) } }
    }

    /// Something that happened, as it was recorded by ``HTTPRequest/record(_:)``.
    public struct Event: Sendable, Hashable, Codable {
        /// The kind of event; see ``CallEvent/name``.
        public let name: String
        /// When it was recorded, in nanoseconds from the start of the call.
        public let startNanoseconds: UInt64
        /// What it says to people.
        public let text: String
        /// Its parts by their names.
        public let attributes: [String: EventValue]

        init?(_ remark: TraceRecorder.Remark, of recording: TraceRecorder.Recording, by redaction: Redaction) {
            guard let event = remark.event else { return nil }
            self.init(redaction.own(event, remark.text), at: remark.time - recording.start)
        }

        init(_ event: CallEvent, at nanoseconds: UInt64) {
            name = event.name
            startNanoseconds = nanoseconds
            text = event.description.escapingControls
            attributes = event.attributes
        }

        /// When it was recorded, from the start of the call.
        public var start: Duration { .nanoseconds(Int64(clamping: startNanoseconds)) }
    }

    /// The events of one kind, in the order in which they were recorded.
    public func events(named name: String) -> [Event] {
        guard let recording = recorder?.snapshot else { return [] }
        return recording.remarks.filter { $0.event?.name == name }.compactMap {
            Event($0, of: recording, by: recording.legend.redaction)
        }
    }

    /// The outermost passes; a single one for a call. Empty when nothing was recorded.
    public var spans: [Span] { recorder.map { TraceAssembly($0.snapshot).roots } ?? [] }

    /// The same, as somebody shows them who has a redaction of their own.
    func spans(by redaction: Redaction) -> [Span] { recorder.map { TraceAssembly($0.snapshot, redaction).roots } ?? [] }

    /// How many passes were not kept because there were too many; 0 for any reasonable call.
    public var droppedSpans: Int { recorder?.snapshot.dropped ?? 0 }
}

extension Trace: Encodable {
    /// Encodes the spans.
    public func encode(to encoder: any Encoder) throws { try spans.encode(to: encoder) }
}
