import Foundation
import Testing

@testable import MidstreamTelemetry

@Suite("The times of spans and metrics")
struct SpanTimeTests {
    @Test("A time is told to the nanosecond")
    func usual() {
        let date = Date(timeIntervalSince1970: 1_700_000_000.5)
        #expect(Span.nanoseconds(date, .nanoseconds(7)) == 1_700_000_000_500_000_007)
    }

    @Test("A time for which 64 bits have no room is as far away as they can tell")
    func far() {
        #expect(Span.nanoseconds(.distantPast, .zero) == 0)
        #expect(Span.nanoseconds(.distantFuture, .zero) == 9_000_000_000_000_000_000)
        #expect(Span.nanoseconds(.distantFuture, .seconds(1_000_000_000)) == .max)
        #expect(Span.nanoseconds(Date(timeIntervalSince1970: .nan), .seconds(Int64.max)) == .max)
    }
}
