#if os(Linux)
    package import MidstreamCore
    package import MidstreamCurl
    package import MidstreamTransport
    package import MidstreamWire

    /// What the transports have in common whose bytes are moved by a loop.
    package protocol LoopTransport: ExchangeTransport {
        var configuration: TransportConfiguration { get }
        func close()
    }

    extension TransportStatistics {
        /// Those in all, without those of each origin.
        package var counts: TransportStatistics {
            var counts = self
            counts.origins = [:]
            return counts
        }

        /// The same, all of one origin.
        package func by(_ origin: String) -> TransportStatistics {
            var statistics = self
            statistics.origins = [origin: counts]
            return statistics
        }
    }

    extension WireTransport: LoopTransport {}
    extension CurlTransport: LoopTransport {}
#endif
