import MidstreamCore
import TestSupport
import Testing

@Suite("Durations", .leavesNothing)
struct DurationsTests {
    @Test(
        "can be multiplied by anything, and become neither less than nothing nor longer than the limit",
        arguments: [
            (.seconds(2), 1.5, .seconds(3)), (.seconds(2), -1, .zero), (.seconds(2), -.infinity, .zero),
            (.seconds(2), .infinity, .longest), (.seconds(2), .nan, .longest), (.zero, .infinity, .longest),
            (.longest, 2, .longest),
        ] as [(Duration, Double, Duration)])
    func product(time: Duration, factor: Double, product: Duration) {
        #expect(time.times(factor) == product)
        #expect(time.times(factor, atMost: .seconds(1)) == min(product, .seconds(1)))
    }
}
