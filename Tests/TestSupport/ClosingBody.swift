package import Interception
package import MidstreamCore

/// An arriving body without an end that notes how it is closed.
package final class ClosingBody: IncomingBody {
    /// Nil for a closing, the code for one since a chunk hasn't come in time.
    package let closings = Locked<[HTTPError.Code?]>([])

    package init() {}

    nonisolated(nonsending) package func next() async throws -> [UInt8]? { [1] }
    package func close() { closings.withLock { $0.append(nil) } }
    package func close(late error: HTTPError) { closings.withLock { $0.append(error.code) } }
    package var isSpent: Bool { false }
    package var trailers: HTTPHeaders? { nil }
    package var metrics: TransportMetrics? { nil }
}
