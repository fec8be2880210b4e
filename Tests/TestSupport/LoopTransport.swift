#if os(Linux)
    package import MidstreamCore
    package import MidstreamCurl
    package import MidstreamWire

    /// What the transports have in common whose bytes are moved by a loop.
    package protocol LoopTransport: ExchangeTransport, MeasuredTransport {
        var configuration: TransportConfiguration { get }
        var executor: any TaskExecutor { get }
        func close()
    }

    extension WireTransport: LoopTransport {}
    extension CurlTransport: LoopTransport {}
#endif
