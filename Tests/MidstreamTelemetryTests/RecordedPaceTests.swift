import Foundation
import MidstreamTelemetry
import TestSupport
import Testing

@Suite("The pace of recorded calls", .leavesNothing)
struct RecordedPaceTests {
    /// - Parameter further: Fields of the entry, such as `"_fromCache": "disk"`.
    private func entry(_ start: String, _ wait: Double = 100, _ further: String = "", status: Int = 200) -> String {
        #"{"startedDateTime": "2026-01-01T00:00:\#(start)Z", "request": {"url": "https://a/"}, "response": {"status": \#(status)},"#
            + #""timings": {"wait": \#(wait)}\#(further.isEmpty ? "" : ",")\#(further)}"#
    }

    private func pace(_ entries: [String]) throws -> HARArchive.Pace? {
        try HARArchive(Data(#"{"log": {"entries": [\#(entries.joined(separator: ","))]}}"#.utf8)).pace
    }

    private let ten = ["10", "11", "12", "13", "14", "15", "16", "17", "18", "19"]

    @Test("calls are in order and count from the first, whatever the order of the entries")
    func order() throws {
        let pace = try #require(try pace(ten.reversed().map { entry($0) } + [entry("12.25", 7)]))
        let seconds = [0, 1, 2, 2.25, 3, 4, 5, 6, 7, 8, 9]
        #expect(pace.arrivals == seconds.map { .seconds($0) })
        #expect(pace.times == [.milliseconds(7)] + Array(repeating: .milliseconds(100), count: 10))
        #expect(pace.concurrency == 1)
    }

    @Test("a call with several exchanges began once, with the earliest of them")
    func exchanges() throws {
        let own = #""_midstream": {"call": "c"}"#
        let pace = try #require(try pace(ten.map { entry($0) } + [entry("30", 50, own), entry("20", 50, own)]))
        #expect(pace.arrivals == (0...10).map { .seconds($0) })
        #expect(pace.times.count == 12)
    }

    @Test("the server never saw what a cache answered")
    func cacheHits() throws {
        let hits = ten.map { entry($0, 0.1, #""_fromCache": "memory""#) }
        #expect(try pace(hits) == nil)
        let pace = try #require(try pace(hits + ten.map { entry("3" + $0.dropFirst()) }))
        #expect(pace.arrivals.count == 10 && pace.arrivals.first == .zero && pace.times.first == .milliseconds(100))
    }

    @Test("calls without an answer have begun, and tell nothing of the server's time")
    func failures() throws {
        let failed = (20..<30).map { entry("\($0)", 30_000, status: 0) }
        let pace = try #require(try pace(ten.map { entry($0) } + failed))
        #expect(pace.arrivals == (0..<20).map { .seconds($0) })
        #expect(pace.times == Array(repeating: .milliseconds(100), count: 10) && pace.concurrency == 1)
        #expect(try self.pace(failed) == nil)
    }

    @Test("exchanges at once are those that overlap; times that aren't known or no times of a day are left out")
    func concurrency() throws {
        let unknown = [entry("10", -1), entry("10", 1e12)]
        #expect(try pace(ten.map { entry($0, 1_000) } + unknown)?.concurrency == 1)
        #expect(try pace(ten.map { entry($0, 1_001) } + unknown)?.concurrency == 2)
        #expect(try pace(Array(repeating: entry("10"), count: 12))?.concurrency == 12)
        #expect(try pace(ten.dropFirst().map { entry($0) } + unknown) == nil)
    }

    @Test("calls may all have begun at one moment, or be one") func oneMoment() throws {
        #expect(try pace(Array(repeating: entry("10"), count: 12))?.arrivals == Array(repeating: .zero, count: 12))
        let one = try pace(ten.map { entry($0, 10, #""_midstream": {"call": "c"}"#) })
        #expect(one?.arrivals == [.zero] && one?.times.count == 10)
    }
}
