extension HTTPResponse {
    /// What was done to the request and the response, by whom, in what order and how long it took.
    public var trace: Trace { Trace(record as? TraceRecorder) }
}

extension HTTPError {
    /// What was done to the request up to the failure; nil where traces aren't recorded, and for an error that didn't come through a
    /// pipeline: about a request that never got there, such as one with a malformed URL, from reading a streamed body, or from elsewhere.
    public var trace: Trace? { (record as? TraceRecorder).map { Trace($0) } }
}
