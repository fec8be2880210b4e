import Foundation
import Measuring
import Midstream
import MidstreamFleet

/// Prints how many decisions about a quota a member of a fleet makes in a second over one connection, and what each costs this process.
///
/// Redis' address is in `MIDSTREAM_REDIS`. `--count NAME TIMES` makes so many decisions of one kind and measures nothing; `--names`
/// says which kinds there are.
@main
struct FleetBench {
    private static let kinds = [("one by one", 1), ("8 at a time", 8), ("32 at a time", 32)]
    private static let rounds = 9

    static func main() { runToEnd { try await measure() } }

    private static func measure() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments == ["--names"] { return print(kinds.map(\.0).joined(separator: "\n")) }
        guard let server = ProcessInfo.processInfo.environment["MIDSTREAM_REDIS"] else {
            return print("MIDSTREAM_REDIS has no address")
        }
        // Nothing is decided locally, however slow the machine is.
        let fleet = try Fleet(.redis(server), name: "bench", patience: .seconds(60), key: .unsealed)
        defer { fleet.close() }
        let quota = fleet.quota("q", perSecond: 1e6)
        if arguments.count >= 3, arguments[0] == "--count", let times = Int(arguments[2]) {
            guard let (_, width) = kinds.first(where: { $0.0 == arguments[1] }) else {
                return print("no such name: \(arguments[1])")
            }
            return try await decide(quota, times, width)
        }
        print("decisions about a quota, over one connection:")
        for (name, width) in kinds {
            try await decide(quota, 10_000, width)
            var (rates, costs, allocations): ([Double], [Double], [Double]) = ([], [], [])
            for _ in 0..<rounds {
                let times = 20_000
                let (begin, processor, allocated) = (ContinuousClock.now, Usage.processorSeconds, Usage.allocations)
                try await decide(quota, times, width)
                rates.append(Double(times) / ((ContinuousClock.now - begin) / .seconds(1)))
                costs.append((Usage.processorSeconds - processor) / Double(times))
                if let allocated, let now = Usage.allocations { allocations.append(Double(now - allocated) / Double(times)) }
            }
            var text = String(format: "  \(name): %.0f a second, %.1f µs of the processor", rates.median, costs.median * 1e6)
            if !allocations.isEmpty { text += String(format: ", %.1f allocations", allocations.median) }
            print(text)
        }
        guard case .connected = fleet.state.connection else { return print("not connected any more: \(fleet.state)") }
    }

    private static func decide(_ quota: some Quota, _ times: Int, _ width: Int) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<width {
                group.addTask {
                    for _ in 0..<(times / width) { _ = try await quota.reserve(for: "k", waitingAtMost: .zero) }
                }
            }
            try await group.waitForAll()
        }
    }
}
