internal import Interception

/// A body whose chunks closures give.
final class ClosureBody: IncomingBody {
    private enum State {
        case unread, arriving, ended, closed
    }

    private let state = Locked(State.unread)
    private let chunk: @Sendable () async throws -> [UInt8]?
    private let fieldsBehind: @Sendable () -> HTTPHeaders?
    private let measurements: @Sendable () -> TransportMetrics?
    private let isChanged: @Sendable () -> Bool
    private let giveUp: @Sendable (_ late: HTTPError?) -> Void

    init(
        next: @escaping @Sendable () async throws -> [UInt8]?, trailers: @escaping @Sendable () -> HTTPHeaders?,
        metrics: @escaping @Sendable () -> TransportMetrics?, isTransformed: @escaping @Sendable () -> Bool = { false },
        close: @escaping @Sendable (_ late: HTTPError?) -> Void
    ) {
        (chunk, fieldsBehind, measurements, isChanged, giveUp) = (next, trailers, metrics, isTransformed, close)
    }

    deinit { close() }

    nonisolated(nonsending) func next() async throws -> [UInt8]? {
        let before = state.withLock { state in
            defer { if state == .unread { state = .arriving } }
            return state
        }
        switch before {
        case .ended: throw HTTPError.alreadyRead()
        case .closed: throw HTTPError.bodyClosed()
        case .unread, .arriving: break
        }
        let next = try await chunk()
        guard next == nil else { return next }
        let isClosed = state.withLock { state in
            if state != .closed { state = .ended }
            return state == .closed
        }
        // It may have ended because it was closed meanwhile, which mustn't pass for the end of the body.
        if isClosed { throw HTTPError.bodyClosed() }
        return nil
    }

    func close() { close(because: nil) }
    func close(late error: HTTPError) { close(because: error) }

    private func close(because late: HTTPError?) {
        let isFirst = state.withLock { state in
            guard state == .unread || state == .arriving else { return false }
            state = .closed
            return true
        }
        if isFirst { giveUp(late) }
    }

    var isSpent: Bool { state.withLock { $0 != .unread } }
    var isTransformed: Bool { isChanged() }
    var trailers: HTTPHeaders? { fieldsBehind() }
    var metrics: TransportMetrics? { measurements() }
}
