/// A transport that makes connections ahead of the requests that will use them; `WireTransport` does.
public protocol PreparingTransport: HTTPTransport {
    /// Has so many connections stand without a request: with the name looked up, TCP and, for https, TLS, and nothing of HTTP sent but what a
    /// connection of HTTP/2 begins with. Those that stand already, or are being made, count; over HTTP/2 one suffices. No more are made
    /// than the limits of the transport allow, and they are kept no longer than others.
    ///
    /// - Parameters:
    ///   - url: An absolute http or https URL, of which the origin counts.
    ///   - connections: How many; none for zero or less.
    /// - Throws: ``HTTPError`` when one can't be made, which the others may have been; cancelling the task has no effect.
    func prepare(_ url: String, connections: Int) async throws
}
