package import Interception

/// Those of a pipeline that may decide whose a request is, in their order, and the transport.
struct PipelineIdentities: Sendable {
    private let sources: [(place: Int, interceptor: any HTTPInterceptor)]
    private let transport: RequestIdentity

    init(_ elements: [Pipeline.Element], _ transport: any HTTPTransport) {
        sources = elements.enumerated().filter(\.element.isPersonal).map { ($0.offset, $0.element.interceptor) }
        self.transport = transport.identity
    }

    /// Whose a request will be by those from a place on.
    func identity(of request: HTTPRequest, from place: Int) -> WireIdentity {
        var identity = WireIdentity()
        for source in sources where source.place >= place { identity.add(source.interceptor.identity(of: request)) }
        identity.add(transport)
        return identity
    }

    /// Whether nobody from a place on would be asked.
    func isEmpty(from place: Int) -> Bool { transport == .nobody && (sources.last?.place ?? -1) < place }
}

extension Next where Input == HTTPRequest, Output == HTTPResponse {
    /// Whose a request will be by those further in.
    package func identity(of request: HTTPRequest) -> WireIdentity {
        let place = Int(index)
        guard let exchange = links.steps[links.steps.count - 1] as? Exchange else {
            // A chain of its own within an interceptor doesn't see who comes behind it.
            var identity = WireIdentity()
            identity.add(.unknown)
            return identity
        }
        if exchange.identities.isEmpty(from: place) { return WireIdentity() }
        // Those that are asked find the call in the task, which isn't told it in every case.
        return ChainPosition.local.withValue(position) { exchange.identities.identity(of: request, from: place) }
    }
}
