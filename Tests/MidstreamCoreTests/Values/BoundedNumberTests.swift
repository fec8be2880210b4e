import MidstreamCore
import Testing

@Suite("A number within a limit") struct BoundedNumberTests {
    @Test(
        "loses its fraction, and is no farther away than the limit",
        arguments: [
            (2.9, 2), (-2.9, -2), (9, 9), (1e300, 9), (-1e300, -9), (.infinity, 9), (-.infinity, -9), (.nan, -9),
        ] as [(Double, Int64)])
    func bounded(number: Double, whole: Int64) {
        #expect(Int64(number, within: 9) == whole)
    }
}
