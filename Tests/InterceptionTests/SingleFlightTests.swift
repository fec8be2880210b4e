import TestSupport
import Testing

@testable import Interception

@Suite(.timeLimit(.minutes(10))) struct SingleFlightTests {
    @Test func aThousandCallersShareOneRun() async throws {
        let flight = SingleFlight<Never, Int>()
        let runs = Locked(0)
        let gate = Gate()
        let values = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<1_000 {
                group.addTask {
                    try await flight.run {
                        await gate.wait()
                        return runs.increment()
                    }
                }
            }
            await reached(1_000) { flight.waiters }
            gate.open()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(values == Array(repeating: 1, count: 1_000))
        #expect(flight.waiters == 0)
    }

    @Test func anErrorGoesToAllWhoWait() async {
        let flight = SingleFlight<Never, Int>()
        let gate = Gate()
        let callers = (0..<10).map { _ in
            Task {
                try await flight.run {
                    await gate.wait()
                    throw Broken()
                }
            }
        }
        await reached(10) { flight.waiters }
        gate.open()
        for caller in callers {
            await #expect(throws: Broken.self) { try await caller.value }
        }
    }

    @Test func theNextCallerStartsAnew() async throws {
        let flight = SingleFlight<Never, Int>()
        await #expect(throws: Broken.self) { try await flight.run { throw Broken() } }
        #expect(try await flight.run { 1 } == 1)
        #expect(try await flight.run { 2 } == 2)
    }

    @Test func differentKeysRunSideBySide() async throws {
        let flight = SingleFlight<String, String>()
        let gate = Gate()
        let slow = Task {
            try await flight.run("slow") {
                await gate.wait()
                return "slow"
            }
        }
        await reached(1) { flight.waiters(for: "slow") }
        #expect(try await flight.run("fast") { "fast" } == "fast")
        #expect(flight.waiters(for: "slow") == 1)
        gate.open()
        #expect(try await slow.value == "slow")
    }

    @Test func aCancelledCallerLeavesAtOnceAndTheOthersGetTheValue() async throws {
        let flight = SingleFlight<Never, Int>()
        let gate = Gate()
        let work: @Sendable () async throws -> Int = {
            await gate.wait()
            try Task.checkCancellation()
            return 7
        }
        let first = Task { try await flight.run(work) }
        await reached(1) { flight.waiters }
        let second = Task { try await flight.run(work) }
        await reached(2) { flight.waiters }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        gate.open()
        #expect(try await second.value == 7)
    }

    @Test func theWorkIsFinishedEvenWhenAllHaveLeft() async throws {
        let flight = SingleFlight<Never, Int>()
        let gate = Gate()
        let finished = Gate()
        let caller = Task {
            try await flight.run {
                await gate.wait()
                if !Task.isCancelled { finished.open() }
                return 1
            }
        }
        await reached(1) { flight.waiters }
        caller.cancel()
        await #expect(throws: CancellationError.self) { try await caller.value }
        gate.open()
        await finished.wait()
    }

    @Test func aCallerWhoIsCancelledAlreadyStartsNothing() async {
        let flight = SingleFlight<Never, Int>()
        let started = Locked(false)
        let caller = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await flight.run {
                started.withLock { $0 = true }
                return 1
            }
        }
        await #expect(throws: CancellationError.self) { try await caller.value }
        #expect(!started.withLock { $0 })
    }

    @Test func cancellationsAndValuesThatRaceEndEveryCall() async {
        let flight = SingleFlight<Int, Int>()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<2_000 {
                group.addTask {
                    let caller = Task {
                        try await flight.run(number % 4) {
                            await Task.yield()
                            return number
                        }
                    }
                    if number.isMultiple(of: 3) { caller.cancel() }
                    switch await caller.result {
                    case .success(let value): #expect(value % 4 == number % 4)
                    case .failure(let error): #expect(error is CancellationError && number.isMultiple(of: 3))
                    }
                }
            }
        }
        #expect((0..<4).allSatisfy { flight.waiters(for: $0) == 0 })
    }

    private struct Broken: Error {}
}

/// Lets other tasks run until a count is reached.
private func reached(_ count: Int, _ current: () -> Int) async {
    await eventually { current() >= count }
}
