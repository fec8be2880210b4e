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
}
