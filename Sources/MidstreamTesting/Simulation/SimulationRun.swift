internal import Foundation
internal import Interception
internal import MidstreamCore
internal import MidstreamResilience

/// A moment between two jobs, which is where tasks wait, at which calls are cancelled.
struct SimulatedCancellation: Sendable {
    /// Before this one; 0 for the first.
    let job: Int
    /// Whether all open calls are; otherwise the oldest.
    let isOfAll: Bool
}

/// One run of a simulation: makes the calls, counts what becomes of them, and moves the time.
@available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
final class SimulationRun: Sendable {
    private struct Call {
        let request: HTTPRequest
        let start: Duration
        let task: Task<Void, Never>
    }

    private struct State {
        var report = SimulationReport()
        var open: [Int: Call] = [:]
        var begun = 0
        var sendsBefore = 0
        /// Whether nobody waits for the report any more.
        var isLeft = false
    }

    private let clients: [HTTPClient]
    private let load: SimulatedLoad
    private let server: SimulatedServer
    private let clock: SimulatedClock
    private let random: SimulatedRandom
    private let end: Duration
    private let cancellation: SimulatedCancellation?
    private let executor = SimulatedExecutor()
    private let state: Locked<State>

    init(
        clients: [HTTPClient], load: SimulatedLoad, server: SimulatedServer, clock: SimulatedClock, random: SimulatedRandom,
        seconds: Int, cancellation: SimulatedCancellation?
    ) {
        self.clients = clients
        self.load = load
        self.server = server
        self.clock = clock
        self.random = random
        end = .seconds(seconds)
        self.cancellation = cancellation
        var report = SimulationReport()
        report.rows = (0..<seconds).map { SimulationReport.Row(second: $0) }
        report.times = Array(repeating: [], count: seconds)
        state = Locked(State(report: report))
    }

    /// Runs the simulation by the calling thread, from the beginning to the end of its last call.
    func run() -> SimulationReport {
        let start = ContinuousClock.now
        planCall(0, after: .zero)
        for second in state.withLock({ $0.report.rows.indices }) {
            clock.schedule(at: .seconds(second + 1)) { [self] in look(at: second) }
        }
        var jobs = 0
        while true {
            jobs += executor.runAll { [jobs] in cancel(before: jobs + $0) }
            let isTimeOver = clock.now.offset >= end
            if state.withLock({ ($0.isLeft || isTimeOver) && $0.open.isEmpty }) { break }
            if clock.step() { continue }
            // Somebody's task may have left the executor and be about to come back.
            if executor.waitForJob(until: Date(timeIntervalSinceNow: 0.5)) { continue }
            if !giveUpStalled() { break }
        }
        // What is planned for later holds the run, which holds the clock.
        clock.end()
        _ = executor.runAll()
        return state.withLock { state in
            for second in state.report.rows.indices {
                let times = state.report.times[second].sorted()
                state.report.rows[second].p50 = times.quantile(0.5)
                state.report.rows[second].p99 = times.quantile(0.99)
            }
            state.report.jobs = jobs
            state.report.realTime = ContinuousClock.now - start
            return state.report
        }
    }

    /// Cancels the calls that are open, and has no other begin: the run ends with them. May be called from any thread.
    func leave() {
        let open = state.withLock { state in
            state.isLeft = true
            return state.open.values.map(\.task)
        }
        for task in open { task.cancel() }
    }

    private func planCall(_ number: Int, after previous: Duration) {
        guard let time = load.time(of: number, after: previous, random), time < end else { return }
        clock.schedule(at: time) { [self] in
            begin(at: time)
            planCall(number + 1, after: time)
        }
    }

    private func begin(at time: Duration) {
        // A division might round up to a second that isn't there.
        let second = Int(time.components.seconds)
        state.withLock { state in
            guard !state.isLeft else { return }
            let number = state.begun
            state.begun += 1
            state.report.rows[second].calls += 1
            let request = load.request(number)
            let client = clients[number % clients.count]
            let task = Task(executorPreference: executor) { [self] in
                let error = await outcome(of: request, by: client)
                ended(number, second, since: time, error)
            }
            state.open[number] = Call(request: request, start: time, task: task)
            if let patience = load.patience?.time(random) {
                clock.schedule(at: time + patience) { [self] in
                    self.state.withLock { $0.open[number]?.task }?.cancel()
                }
            }
        }
    }

    private func outcome(of request: HTTPRequest, by client: HTTPClient) async -> (any Error)? {
        do {
            if load.isStreamed {
                for try await _ in try await client.stream(request).body {}
            } else {
                _ = try await client.send(request)
            }
            return nil
        } catch {
            return error
        }
    }

    private func ended(_ number: Int, _ second: Int, since start: Duration, _ error: (any Error)?) {
        let time = clock.now.offset - start
        state.withLock { state in
            state.open[number] = nil
            if let error {
                if (error as? HTTPError)?.code.isRefusal == true { state.report.rows[second].refused += 1 }
            } else {
                state.report.rows[second].good += 1
                state.report.times[second].append(time)
            }
        }
    }

    private func cancel(before job: Int) {
        guard let cancellation, cancellation.job == job else { return }
        let open = state.withLock { $0.open.sorted { $0.key < $1.key }.map(\.value.task) }
        for task in cancellation.isOfAll ? open[...] : open.prefix(1) { task.cancel() }
    }

    private func look(at second: Int) {
        let (sends, load) = (server.sends, server.load)
        let entry = clients[0].resilience.entries.first
        state.withLock { state in
            state.report.rows[second].sends = sends - state.sendsBefore
            state.report.rows[second].load = load
            state.report.rows[second].client = entry
            state.sendsBefore = sends
        }
    }

    /// Cancels calls that nothing is going to end; false when that has been done before.
    private func giveUpStalled() -> Bool {
        let tasks = state.withLock { state -> [Task<Void, Never>] in
            guard state.report.stalled.isEmpty, !state.open.isEmpty else { return [] }
            let open = state.open.sorted { $0.key < $1.key }.map(\.value)
            state.report.stalled = open.map {
                SimulationReport.Stalled(request: "\($0.request)", since: $0.start / .seconds(1))
            }
            return open.map(\.task)
        }
        for task in tasks { task.cancel() }
        return !tasks.isEmpty
    }
}

extension [Duration] {
    /// Of a sorted list the least time within which that share of it lies; nil when it is empty.
    func quantile(_ share: Double) -> Duration? {
        isEmpty ? nil : self[Swift.max(0, Int((Double(count) * share).rounded(.up)) - 1)]
    }
}
