extension HTTPResponse {
    /// Takes the body into memory, if it isn't there yet, and keeps its trailers and metrics.
    ///
    /// - Throws: What ``HTTPBody/collect(upTo:)`` throws.
    package mutating func buffer(upTo limit: Int) async throws {
        guard body.bytes == nil else { return }
        let arriving = body
        body = .bytes(try await arriving.collect(upTo: limit))
        trailers = trailers ?? arriving.incoming?.trailers
        metrics = metrics ?? arriving.incoming?.metrics
    }
}
