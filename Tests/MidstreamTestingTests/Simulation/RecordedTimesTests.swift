import Foundation
import TestSupport
import Testing

@testable import MidstreamTesting

@Suite("Times of a record") struct RecordedTimesTests {
    private func archive(_ entries: String) -> Data {
        Data(#"{"log": {"version": "1.2", "creator": {"name": "x"}, "entries": [\#(entries)]}}"#.utf8)
    }

    private func entry(_ url: String, _ wait: String, fromCache: String = "null", status: String = "null") -> String {
        #"{"time": 9, "request": {"method": "GET", "url": "\#(url)"}, "timings": {"send": 0, "wait": \#(wait), "receive": 1}, "#
            + #""response": {"status": \#(status)}, "_fromCache": \#(fromCache)}"#
    }

    @Test("the waits of the entries that are asked for are its samples")
    func samples() throws {
        let record = archive(
            [
                entry("https://a/1", "12.5"), entry("https://b/", "7"), entry("https://a/2", "-1"), entry("https://a/3", "0"),
                entry("https://a/4", "1", fromCache: #""disk""#), entry("https://a/5", "30000", status: "0"),
                entry("https://a/6", "8", status: "503"),
            ].joined(separator: ","))
        #expect(
            try ServiceTime.recorded(in: record)
                == .samples([.microseconds(12_500), .milliseconds(7), .zero, .milliseconds(8)]))
        let own = try ServiceTime.recorded(in: Data([0xEF, 0xBB, 0xBF]) + record) { $0.hasPrefix("https://a/") }
        #expect(own == .samples([.microseconds(12_500), .zero, .milliseconds(8)]))
        let random = SimulatedRandom(seed: 1)
        #expect(Set((0..<100).map { _ in own.time(random) }) == [.microseconds(12_500), .zero, .milliseconds(8)])
    }

    @Test(
        "anything else is refused, with its place and not with what stands there",
        arguments: [
            ("", "isn't valid JSON"), ("{}", #"the root: the key "log" is missing"#),
            (#"{"log": {"entries": "secret"}}"#, "log.entries: expected"),
            (
                #"{"log": {"entries": [{"request": {"url": "u"}, "timings": {"wait": "secret"}}]}}"#,
                "log.entries[0].timings.wait: expected Double"
            ),
            (
                #"{"log": {"entries": [{"request": {"url": "u"}, "timings": {}}]}}"#,
                #"log.entries[0].timings: the key "wait" is missing"#
            ),
            (#"{"log": {"entries": [{"request": {"url": "u"}, "timings": {"wait": -2}}]}}"#, "Entry 0 has waited -2.0 ms"),
            (#"{"log": {"entries": [{"request": {"url": "u"}, "timings": {"wait": 1e308}}]}}"#, "no time of a day"),
            (#"{"log": {"entries": []}}"#, "No entry"), (String(repeating: "[", count: 100_000), "isn't valid JSON"),
        ])
    func refused(text: String, reason: String) {
        let error = #expect(throws: ServiceTime.UnusableRecord.self) { try ServiceTime.recorded(in: Data(text.utf8)) }
        #expect(error?.description.contains(reason) == true && error?.description.contains("secret") == false, "\(error as Any)")
    }
}
