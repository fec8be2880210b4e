/// How the client wants one exchange to be carried out.
package struct ExchangeOptions: Sendable {
    /// How the response's body is to be delivered.
    package var delivery: BodyDelivery
    /// Whether a body that is delivered as it arrives is watched on its way into memory, and not left to a reader who decides how much of it is
    /// taken.
    package var isCollected = false
    /// How long the exchange may take, up to the head of a streamed response, for a transport that keeps time itself
    /// (``ExchangeTransport/keepsTime``); nil: no limit.
    package var timeLimit: Duration?
    /// Whether ``HTTPRequest/checkSendable()`` has been called.
    package var isChecked: Bool
    /// What is charged for requests that the transport sends again by itself; nil: nothing, or its caller charges it by the metrics.
    package var budget: (any ResendBudget)?

    /// Those of a transport that is used without a client.
    package init(delivery: BodyDelivery = .streamed, timeLimit: Duration? = nil, isChecked: Bool = false) {
        self.delivery = delivery
        self.timeLimit = timeLimit
        self.isChecked = isChecked
    }
}

/// Counts requests that a transport has sent again by itself.
package protocol ResendBudget: AnyObject, Sendable {
    /// Charges the budget with what the transport has sent again by itself.
    func count(resends: Int)
}

/// How a transport is to deliver the body of a response.
package enum BodyDelivery: Hashable, Sendable {
    /// As it arrives.
    case streamed
    /// As a whole, of at most so many decoded bytes. A transport may deliver it still arriving instead, and the client collects it.
    case buffered(upTo: Int)
}

/// A transport that accepts options beside the request: with a whole body delivered at once, and its own timer in place of a task of the
/// client's, an exchange costs less.
package protocol ExchangeTransport: HTTPTransport {
    /// Whether it ends an exchange with ``HTTPError/Code/timeout`` when ``ExchangeOptions/timeLimit`` is over.
    var keepsTime: Bool { get }

    /// What the trace of every exchange by https says of how it is sent, such as why a setting isn't obeyed; nil: nothing.
    var remark: String? { get }

    /// Sends one request; see ``HTTPTransport/send(_:)``.
    func send(_ request: HTTPRequest, _ options: ExchangeOptions) async throws -> HTTPResponse
}

extension ExchangeTransport {
    /// Nothing.
    package var remark: String? { nil }
}
