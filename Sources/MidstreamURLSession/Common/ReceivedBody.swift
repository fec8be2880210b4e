internal import MidstreamCore

/// The body that the reader holds: releasing it gives the transfer up, while the session holds only the exchange.
final class ReceivedBody: IncomingBody {
    private let exchange: Exchange

    init(_ exchange: Exchange) { self.exchange = exchange }

    deinit { close() }

    func next() async throws -> [UInt8]? { try await exchange.nextChunk() }

    func close() {
        exchange.giveUp(HTTPError(.connectionLost, "The body was closed before its end.", phase: .answered))
    }

    var isSpent: Bool { exchange.isSpent }
    /// URLSession doesn't tell them.
    var trailers: HTTPHeaders? { nil }
    var metrics: TransportMetrics? { exchange.metrics }
}
