import Midstream
import Testing

@testable import MidstreamTool

@Suite("Numbers on the command line")
struct ArgumentsTests {
    @Test("times that are no number above 0 are wrong usage", arguments: ["-1", "0", "nan", "inf", "-inf", "1e999", "", "1s"])
    func wrongTimes(text: String) {
        for option in ["--timeout", "--deadline"] {
            #expect(throws: UsageError.self) { try Arguments(["get", "h", option, text]) }
        }
    }

    @Test("times longer than a Duration can be are as long as can be counted", arguments: ["1e30", "1e308", "1e10"])
    func longTimes(text: String) throws {
        #expect(try Arguments(["get", "h", "--timeout", text]).timeout == .seconds(1e10))
        #expect(try Arguments(["get", "h", "--deadline", text]).deadline == .seconds(1e10))
    }

    @Test("numbers of retries", arguments: ["-1", "9223372036854775808", "1e3", ""])
    func wrongCounts(text: String) {
        #expect(throws: UsageError.self) { try Arguments(["get", "h", "--retries", text]) }
    }

    @Test("the largest number of retries")
    func largestCount() throws {
        #expect(try Arguments(["get", "h", "--retries", "\(Int.max)"]).retries == .max)
    }
}
