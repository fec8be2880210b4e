/// Reads the record of each call of a client: the exchanges on the wire, the events, and the outcome.
///
/// ```swift
/// struct Failures: CallObserver {
///     func endedCall(_ call: CallRecord) {
///         if let failure = call.failure { print(call, failure) }
///     }
/// }
/// let client = HTTPClient(configuration: .init(observers: [Failures()]))
/// ```
///
/// Every method has a default that does nothing. They are called synchronously by the tasks that run the call, or read the body, so
/// they mustn't wait; a slow one is wrapped in a `BufferedObserver` of the product `MidstreamTelemetry`. For one call they may be
/// called by several tasks at once, as hedged requests run side by side: within an exchange the order holds.
///
/// An observer sees values as they were sent, secrets included. Whatever shows a record withholds them: its description, its mirror and its
/// encoding; see ``Redaction``.
public protocol CallObserver: Sendable {
    /// How many bytes of each body to keep for ``ExchangeRecord/requestBody`` and ``ExchangeRecord/responseBody``; 0 by default. No
    /// observer is given more than it wants, whatever others of the client do.
    var keepsBodies: Int { get }

    /// A call begins. Exactly one ``endedCall(_:)`` follows.
    func began(_ call: CallRecord.Start)

    /// An event was recorded, the time counted from the start of the call; also where ``HTTPClient/Configuration/recordsTrace`` is off.
    func happened(_ event: CallEvent, at time: Duration, in call: CallRecord.ID)

    /// The transport returned a response or threw. Of a streamed response the head has come, and ``endedBody(_:of:)`` follows.
    func endedExchange(_ exchange: ExchangeRecord)

    /// A streamed body was read to its end, failed, was closed or released, which may be after the end of the call. Where its time was over
    /// it has failed with ``HTTPError/Code/timeout`` or ``HTTPError/Code/deadlineExceeded``.
    ///
    /// - Parameter exchange: The exchange with what is known now: its duration, metrics and kept body.
    func endedBody(_ end: HTTPBody.End, of exchange: ExchangeRecord)

    /// The call returned or threw. Nothing follows but ends of streamed bodies. When another task is still reporting something of the
    /// call, such as a shared exchange, that task reports the end, which may be just after the call has returned. What the call still sends
    /// for others that share it, such as a retry, is in no record.
    func endedCall(_ call: CallRecord)
}

extension CallObserver {
    /// None.
    public var keepsBodies: Int { 0 }
    /// Does nothing.
    public func began(_ call: CallRecord.Start) {}
    /// Does nothing.
    public func happened(_ event: CallEvent, at time: Duration, in call: CallRecord.ID) {}
    /// Does nothing.
    public func endedExchange(_ exchange: ExchangeRecord) {}
    /// Does nothing.
    public func endedBody(_ end: HTTPBody.End, of exchange: ExchangeRecord) {}
    /// Does nothing.
    public func endedCall(_ call: CallRecord) {}
}
