import Midstream

/// Sends requests to a server, as many at a time as the options say.
struct WireRun: Sendable {
    let options: Options
    /// Sends one request and reads its response.
    let send: @Sendable () async throws -> HTTPResponse

    func outcome() async throws -> Outcome {
        // The warm-up opens the connections.
        _ = try await latencies(of: options.requests / 10 + 2 * options.inFlight)
        let before = Reading()
        let latencies = try await latencies(of: options.requests)
        let after = Reading()
        return Outcome(options: options, before: before, after: after, latencies: latencies)
    }

    private func latencies(of count: Int) async throws -> [UInt32] {
        try await withThrowingTaskGroup(of: [UInt32].self) { group in
            for place in 0..<options.inFlight {
                let share = count / options.inFlight + (place < count % options.inFlight ? 1 : 0)
                group.addTask { try await inSequence(share) }
            }
            var all: [UInt32] = []
            all.reserveCapacity(count)
            for try await some in group { all += some }
            return all
        }
    }

    private func inSequence(_ count: Int) async throws -> [UInt32] {
        var latencies: [UInt32] = []
        latencies.reserveCapacity(count)
        for _ in 0..<count {
            let start = now()
            let response = try await send()
            latencies.append(UInt32(clamping: now() - start))
            try check(response)
        }
        return latencies
    }

    private func check(_ response: HTTPResponse) throws {
        guard response.status == .ok else { throw Options.Failure(description: "status \(response.status)") }
    }
}
