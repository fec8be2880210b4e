import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

/// By which a transport knows that the connection may be dead.
@Suite("A body that is given up since a chunk hasn't come in time", .leavesNothing)
struct LateClosingTests {
    enum Wrapping: CaseIterable { case observed, mapped, timed, rewound }

    @Test("tells so whatever it comes from", arguments: Wrapping.allCases)
    func passedOn(by wrapping: Wrapping) async throws {
        let source = ClosingBody()
        let body = HTTPBody.incoming(source)
        let wrapped =
            switch wrapping {
            case .observed: body.observed(onChunk: { _ in }, onEnd: { _ in })
            case .mapped: body.mapChunks { $0 }
            case .timed: body.timed(until: .seconds(9), of: Stopwatch(on: TestClock())) { HTTPError(.deadlineExceeded) }
            case .rewound: try await body.prefix(upTo: 1).body
            }
        wrapped.close(late: HTTPError(.timeout, phase: .answered))
        #expect(source.closings.withLock { $0.first } == .some(.timeout))
    }
}
