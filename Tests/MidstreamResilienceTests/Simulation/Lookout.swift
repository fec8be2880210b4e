import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport

@testable import MidstreamResilience

/// Sees what passes one place of a pipeline.
struct Lookout: HTTPInterceptor {
    let stage: InterceptorStage
    let rank: InterceptorRank
    let look: @Sendable (HTTPRequest, Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse

    init(
        _ stage: InterceptorStage = .exchange, _ rank: InterceptorRank = .ordinary,
        _ look: @escaping @Sendable (HTTPRequest, Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse
    ) {
        (self.stage, self.rank, self.look) = (stage, rank, look)
    }

    func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        try await look(request, next)
    }

    /// It changes nothing, so that calls stay what they are.
    func plan(_ request: inout HTTPRequest) async throws -> RequestPlan { .known() }
}

/// A body that knows how it ended.
final class TrackedBody: IncomingBody {
    private let rest: Locked<[UInt8]?>
    private let spent = Locked(false)
    private let onEnd: @Sendable () -> Void

    init(_ bytes: [UInt8], onEnd: @escaping @Sendable () -> Void) {
        rest = Locked(bytes)
        self.onEnd = onEnd
    }

    deinit { close() }

    func next() async throws -> [UInt8]? {
        spent.withLock { $0 = true }
        guard let bytes = rest.withLock({ $0 }) else { throw HTTPError(.connectionLost) }
        if bytes.isEmpty {
            close()
            return nil
        }
        rest.withLock { $0 = [] }
        return bytes
    }

    func close() {
        let wasOpen = rest.withLock { rest in
            defer { rest = nil }
            return rest != nil
        }
        if wasOpen { onEnd() }
    }

    var isSpent: Bool { spent.withLock { $0 } }
    var trailers: HTTPHeaders? { nil }
    var metrics: TransportMetrics? { nil }
}
