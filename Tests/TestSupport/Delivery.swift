package import MidstreamCore

/// How a test wants the body of a response delivered.
private enum DeliveryKey: RequestContextKey {
    static let defaultValue = BodyDelivery.streamed
}

extension HTTPRequest {
    /// How ``MidstreamCore/ExchangeTransport/deliver(_:)`` has the response's body delivered; as it arrives by default.
    package var delivery: BodyDelivery {
        get { context[DeliveryKey.self] }
        set { context[DeliveryKey.self] = newValue }
    }
}

extension ExchangeTransport {
    /// Sends a request as the client does, with its body delivered as the request says.
    package func deliver(_ request: HTTPRequest) async throws -> HTTPResponse {
        try await send(request, ExchangeOptions(delivery: request.delivery))
    }
}
