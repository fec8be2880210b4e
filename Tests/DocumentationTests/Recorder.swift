import Interception
import Midstream

/// Keeps what happened, in order.
final class Recorder: Sendable {
    private let kept = Locked<[String]>([])

    var events: [String] { kept.withLock { $0 } }
    func write(_ event: String) { kept.withLock { $0.append(event) } }
    func clear() { kept.withLock { $0 = [] } }

    func request(_ name: String) -> ClosureRequestInterceptor { ClosureRequestInterceptor(name) { _ in self.write(name) } }
    func response(_ name: String) -> ClosureResponseInterceptor {
        ClosureResponseInterceptor(name) { _ in self.write(name) }
    }

    func interceptor(_ name: String, stage: InterceptorStage = .attempt) -> ClosureHTTPInterceptor {
        ClosureHTTPInterceptor(name, stage: stage) { request, next in
            self.write("\(name) ↓")
            defer { self.write("\(name) ↑") }
            return try await next(request)
        }
    }
}
