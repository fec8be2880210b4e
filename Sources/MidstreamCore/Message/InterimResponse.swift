/// A response before the final one (RFC 9110 §15.2), such as 103 (Early Hints, RFC 8297) or 104 (Upload Resumption Supported).
public struct InterimResponse: Sendable, Hashable {
    /// The status, 1xx.
    public let status: HTTPStatus
    /// The header fields.
    public let headers: HTTPHeaders

    /// Makes an interim response, as transports and tests do.
    public init(status: HTTPStatus, headers: HTTPHeaders = [:]) {
        self.status = status
        self.headers = headers
    }
}

extension InterimResponse: CustomStringConvertible, CustomReflectable {
    /// The status.
    public var description: String { "\(status)" }

    /// Shows the status and the headers, secrets withheld.
    public var customMirror: Mirror { Mirror(self, children: ["status": status, "headers": headers]) }
}

private enum InterimKey: RequestContextKey { static var defaultValue: (@Sendable (InterimResponse) -> Void)? { nil } }

extension HTTPRequest {
    /// Called with each interim response as it arrives; nil by default.
    ///
    /// 100 (Continue) is left out, since it answers the transport; unknown ones are included. Each attempt and each redirect has its own.
    /// Called on the transport's thread, so it mustn't wait. The wire and libcurl support it, URLSession doesn't. The first 32 are
    /// also in ``TransportMetrics/interim`` and in the trace.
    public var onInterim: (@Sendable (InterimResponse) -> Void)? {
        get { context[InterimKey.self] }
        set { context[InterimKey.self] = newValue }
    }
}
