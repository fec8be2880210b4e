import Foundation
import MidstreamCore
import Testing

@Suite("An object in JSON that is written") struct JSONObjectTests {
    @Test("has the digits of whole numbers of any type")
    func numbers() {
        var object = JSONObject()
        object.add("a", each: [0, 7, -7, 10, 99, 100, Int64.min, .max]) { $0.append($1) }
        object.add("b", UInt64.max)
        object.add("c", Int8.min)
        #expect(
            object.text == #"{"a":[0,7,-7,10,99,100,-9223372036854775808,9223372036854775807],"b":18446744073709551615,"c":-128}"#
        )
    }

    @Test(
        "has the milliseconds of durations of any length",
        arguments: [
            (.microseconds(1_234), "1.2"), (.seconds(Int64.max), "900000000000000000.0"),
            (.seconds(Int64.min), "-900000000000000000.0"),
        ] as [(Duration, String)])
    func durations(duration: Duration, text: String) {
        var object = JSONObject()
        object.add("a", duration)
        #expect(object.text == #"{"a":\#(text)}"#)
    }

    @Test(
        "has dates of four digits a year, whatever time they are",
        arguments: [
            (0.25, "1970-01-01T00:00:00.250Z"), (-0.25, "1969-12-31T23:59:59.750Z"), (1e300, "9999-12-31T23:59:59.000Z"),
            (.infinity, "9999-12-31T23:59:59.000Z"), (-.infinity, "0000-01-01T00:00:00.000Z"), (.nan, "0000-01-01T00:00:00.000Z"),
        ] as [(Double, String)])
    func dates(time: Double, text: String) {
        var object = JSONObject()
        object.add("a", Date(timeIntervalSince1970: time))
        #expect(object.text == #"{"a":"\#(text)"}"#)
    }
}
