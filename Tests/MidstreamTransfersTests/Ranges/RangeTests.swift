import Foundation
import MidstreamCore
import Testing

@testable import MidstreamTransfers

@Suite("Ranges of bytes")
struct RangeTests {
    @Test(
        "Content-Range (RFC 9110 §14.4)",
        arguments: [
            ("bytes 0-0/1", .bytes(0..<1, total: 1)), ("bytes 5-9/10", .bytes(5..<10, total: 10)),
            ("Bytes 5-9/*", .bytes(5..<10, total: nil)), ("bytes */10", .unsatisfied(total: 10)),
            ("bytes 0-9223372036854775805/9223372036854775807", .bytes(0..<9_223_372_036_854_775_806, total: .max)),
        ] as [(String, ContentRange)])
    func contentRange(text: String, range: ContentRange) { #expect(ContentRange(text) == range) }

    @Test(
        "What is no Content-Range, or contradicts itself",
        arguments: [
            "", "bytes", "bytes 5-9", "5-9/10", "bytes=5-9/10", "items 5-9/10", "bytes 9-5/10", "bytes 5-10/10", "bytes 5-9/5",
            "bytes  5-9/10", "bytes 5-9/10 ", "bytes -5-9/10", "bytes +5-9/10", "bytes 5-/10", "bytes -9/10", "bytes */*",
            "bytes 5-9//10",
            "bytes 5-9/10/10", "bytes 5--9/10", "bytes 0-9223372036854775807/*", "bytes 0-1/9223372036854775808",
            "bytes 99999999999999999999-99999999999999999999/*", "bytes ٥-٩/10", "bytes 5-9/10, bytes 5-9/10",
        ])
    func malformed(text: String) { #expect(ContentRange(text) == nil) }

    @Test("Ranges that are there")
    func ranges() {
        var ranges = ByteRanges()
        #expect(ranges.gaps(upTo: 10) == [0..<10])
        ranges.insert(2..<4)
        ranges.insert(6..<8)
        #expect(ranges.gaps(upTo: 10) == [0..<2, 4..<6, 8..<10])
        #expect(ranges.gaps(upTo: 7) == [0..<2, 4..<6])
        ranges.insert(4..<5)
        #expect(ranges.ranges == [2..<5, 6..<8])
        ranges.insert(5..<5)
        ranges.insert(3..<7)
        #expect(ranges.ranges == [2..<8])
        #expect(ranges.count == 6 && ranges.end == 8)
        ranges.insert(0..<2)
        ranges.insert(8..<10)
        #expect(ranges.ranges == [0..<10] && ranges.gaps(upTo: 10).isEmpty)
    }

    @Test("They are what a set of numbers would be")
    func model() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<300 {
            var ranges = ByteRanges()
            var set: Set<Int64> = []
            for _ in 0..<Int.random(in: 0..<12, using: &generator) {
                let start = Int64.random(in: 0..<30, using: &generator)
                let range = start..<(start + Int64.random(in: 0..<8, using: &generator))
                ranges.insert(range)
                set.formUnion(range)
            }
            #expect(Set(ranges.ranges.flatMap { $0 }) == set)
            #expect(zip(ranges.ranges, ranges.ranges.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound })
            #expect(Set(ranges.gaps(upTo: 30).flatMap { $0 }) == Set(0..<30).subtracting(set))
        }
    }

    @Test("Validators that tell bytes apart (RFC 9110 §8.8)")
    func validators() {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        let later = "Sun, 06 Nov 1994 08:50:37 GMT"
        #expect(StrongValidator(["ETag": "\"a\""]) == .eTag("\"a\""))
        #expect(StrongValidator(["ETag": "\"\"", "Last-Modified": date, "Date": later]) == .eTag("\"\""))
        #expect(StrongValidator(["Last-Modified": date, "Date": later]) == .lastModified(date))
        for headers: HTTPHeaders in [
            [:], ["ETag": "W/\"a\""], ["ETag": "a"], ["ETag": "\""], ["Last-Modified": date],
            ["Last-Modified": date, "Date": "Sun, 06 Nov 1994 08:50:36 GMT"], ["Last-Modified": "yesterday", "Date": later],
            ["ETag": "W/\"a\"", "Last-Modified": date, "Date": later],
        ] {
            #expect(StrongValidator(headers) == nil)
        }
        #expect(StrongValidator.eTag("\"a\"").holds(for: ["ETag": "\"a\""]))
        for headers: HTTPHeaders in [[:], ["ETag": "\"b\""], ["ETag": "W/\"a\""], ["Last-Modified": date]] {
            #expect(!StrongValidator.eTag("\"a\"").holds(for: headers))
        }
        #expect(StrongValidator.lastModified(date).holds(for: [:]))
        #expect(StrongValidator.lastModified(date).holds(for: ["Last-Modified": date]))
        #expect(!StrongValidator.lastModified(date).holds(for: ["Last-Modified": later]))
        #expect(!StrongValidator.lastModified(date).holds(for: ["ETag": "\"a\""]))
    }
}
