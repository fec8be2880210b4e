import Foundation
import Midstream
import Testing

/// Code that has nothing to do with the library compiles beside its import as it does without, and means the same.
@Suite("Everyday code beside the import")
struct EverydayCode {
    /// Named as the library's own: here it is this one.
    private struct Trace: Equatable { var lines = ["a"] }
    private enum Limit { static let most = 3 }

    @Test func rangesOfLiterals() {
        let half = 0..<3
        let closed = 1...3
        var sum = 0
        for number in half { sum += number }
        for number in closed { sum += number }
        for number in 200..<203 { sum += number - 200 }
        #expect(sum == 12 && (0...2).count == 3 && (0..<2).map { $0 } == [0, 1] && Array(1...2) == [1, 2])
        #expect(half.contains(2) && half == Range(0...2) && (1..<4).lowerBound == 1 && (0..<4).reversed().first == 3)
        let letters = ["a", "b", "c", "d"]
        #expect(letters[1..<3] == ["b", "c"] && letters[1...2].count == 2 && letters[..<1] == ["a"] && letters[3...] == ["d"])
        switch letters.count {
        case 0..<2: Issue.record("few")
        case 2...Limit.most: Issue.record("some")
        default: break
        }
        let end = letters.count
        #expect((0..<end).randomElement() != nil && stride(from: 0, to: end, by: 2).map { $0 } == [0, 2])
        #expect((0.0..<1.0).contains(0.5) && ("a"..."c").contains("b") && 5.clamped(to: 0...3) == 3)
    }

    @Test func literals() {
        let (number, fraction, text, list) = (200, 0.5, "x", [1, 2, 404])
        let byName = ["a": 1]
        let set: Set = [1, 2]
        #expect(number + 1 == 201 && fraction * 2 == 1 && text + "y" == "xy" && list.max() == 404 && byName["a"] == 1)
        #expect(set.contains(1) && number > 199 && [number, 404].contains(404) && list.firstIndex(of: 404) == 2)
    }

    @Test func resultsAndTasks() async throws {
        let result = Result { try JSONDecoder().decode([Int].self, from: Data("[1]".utf8)) }
        let failed: Result<Int, any Error> = .failure(CocoaError(.fileNoSuchFile))
        let task = Task { 7 }
        let detached = Task.detached { () throws -> Int in 8 }
        let sum = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<3 { group.addTask { number } }
            return try await group.reduce(0, +)
        }
        let values = (await task.value, try await detached.value)
        #expect(try result.get() == [1] && (try? failed.get()) == nil && values == (7, 8) && sum == 3)
        try await Task.sleep(for: .zero)
        switch failed {
        case .success: Issue.record("It failed.")
        case .failure(let error): #expect(error is CocoaError)
        }
    }

    @Test func urlsAndTypesOfTheSameName() throws {
        let url = try #require(URL(string: "https://h/a?b=1#c"))
        #expect(url.host == "h" && url.appendingPathComponent("d").lastPathComponent == "d" && URL(string: "") == nil)
        #expect(URLComponents(string: "\(url)")?.queryItems?.first?.name == "b")
        let trace = Trace()
        #expect(trace == Trace(lines: ["a"]) && trace.lines.map(\.count) == [1])
    }

    @Test func setsOfStatusesAreWrittenAsRanges() {
        let success: HTTPStatusSet = 200..<300
        let closed: HTTPStatusSet = 200...299
        #expect(success == closed && HTTPStatus.ok..<300 == success && success.contains(204) && success == .success)
        #expect((HTTPStatus.ok...HTTPStatus(204)).contains(204))
    }

    /// By its code, where it is caught.
    @Test func errorsAreCaughtByTheirCode() {
        func caught(_ error: any Error) -> String {
            do {
                throw error
            } catch HTTPError.timeout, HTTPError.deadlineExceeded {
                return "time"
            } catch HTTPError.bodyNotReplayable {
                return "once"
            } catch HTTPError.bodyTooLarge {
                return "size"
            } catch HTTPError.Code.ownCode {
                return "own"
            } catch HTTPError.circuitOpen {
                return "open"
            } catch {
                return "another"
            }
        }
        let codes: [HTTPError.Code] = [
            .timeout, .deadlineExceeded, .bodyNotReplayable, .bodyTooLarge, .ownCode, .circuitOpen, .connection,
        ]
        #expect(codes.map { caught(HTTPError($0)) } == ["time", "time", "once", "size", "own", "open", "another"])
        #expect(caught(CancellationError()) == "another")
        // However often it was tried.
        #expect(caught(HTTPError(.retriesExhausted, underlying: HTTPError(.timeout))) == "time")
    }
}

extension HTTPError.Code {
    fileprivate static let ownCode = Self(rawValue: "own")
}

extension Comparable {
    fileprivate func clamped(to range: ClosedRange<Self>) -> Self { min(max(self, range.lowerBound), range.upperBound) }
}
