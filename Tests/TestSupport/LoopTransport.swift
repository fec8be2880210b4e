#if os(Linux)
    package import MidstreamCore
    package import MidstreamWire

    #if Curl
        package import MidstreamCurl
    #endif

    /// What the transports have in common whose bytes are moved by a loop.
    package protocol LoopTransport: ExchangeTransport {
        var configuration: TransportConfiguration { get }
        var executor: any TaskExecutor { get }
        func close()
    }

    extension WireTransport: LoopTransport {}
    #if Curl
        extension CurlTransport: LoopTransport {}
    #endif
#endif
