internal import Interception
internal import MidstreamCore

private enum ExchangeWaitsKey: RequestContextKey { static let defaultValue: ExchangeWaits? = nil }

/// One is as good as another: that of an earlier exchange doesn't keep requests, kept from their answers, from being shared.
private struct ExchangeWaits: Hashable {
    let nanoseconds: Locked<Int64>

    static func == (one: Self, other: Self) -> Bool { true }
    func hash(into hasher: inout Hasher) {}
}

extension HTTPRequest {
    /// The same request, whose waits on this side are added up, in nanoseconds, for who measures how long a server takes; nil: nobody does.
    func waits(addedTo waits: Locked<Int64>?) -> HTTPRequest {
        guard let waits else { return self }
        var request = self
        request.context[ExchangeWaitsKey.self] = ExchangeWaits(nanoseconds: waits)
        return request
    }

    /// Notes for how many nanoseconds it has waited on this side.
    func noteWait(of time: Int64) {
        guard carries(ExchangeWaitsKey.self) else { return }
        context[ExchangeWaitsKey.self]?.nanoseconds.withLock { $0 += time }
    }
}
