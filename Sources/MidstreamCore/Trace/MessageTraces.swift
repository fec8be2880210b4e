extension HTTPResponse {
    /// What was done to the request and the response, by whom, in what order and how long it took.
    public var trace: Trace { Trace(record as? TraceRecorder) }
}

extension HTTPError {
    /// What was done to the request up to the failure; nil for an error that no client has thrown.
    public var trace: Trace? { (record as? TraceRecorder).map { Trace($0) } }
}
