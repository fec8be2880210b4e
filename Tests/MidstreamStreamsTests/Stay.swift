import TestSupport
import Testing

/// Checks that an actor isn't left for each of the thousand elements of a sequence.
func expectStay<S: AsyncSequence & Sendable>(for elements: S, at location: SourceLocation = #_sourceLocation) async throws {
    let reader = Reader()
    #expect(try await reader.count(elements) == 1_000, sourceLocation: location)
    #expect(reader.jobs.count < 50, sourceLocation: location)
}

/// An actor that counts how often it is entered.
private actor Reader {
    nonisolated let jobs = CountedJobs()
    nonisolated var unownedExecutor: UnownedSerialExecutor { jobs.asUnownedSerialExecutor() }

    func count(_ elements: some AsyncSequence) async throws -> Int {
        var count = 0
        for try await _ in elements { count += 1 }
        return count
    }
}
