import Foundation
import Midstream
import MidstreamTesting
import MidstreamURLSession
import Testing

#if os(Linux)
    import MidstreamCurl
    import MidstreamWire
#endif

/// Set to a number of calls by `Scripts/check soak`, which lets these tests have the process to themselves.
private let wantedCalls = ProcessInfo.processInfo.environment["MIDSTREAM_SOAK"].flatMap { Int($0) }

@Suite("Soak", .serialized)
struct SoakTests {
    @Test(
        "many calls to a server that fails, stalls and drops at random: each ends with success or one typed error",
        .timeLimit(.minutes(60)), arguments: Loops.allCases)
    private func soak(_ loops: Loops) async throws {
        let calls = wantedCalls ?? 1_000
        // What is opened or allocated once, by whomever, is so now.
        if wantedCalls != nil { _ = try await run(calls: 500, seed: 7, loops) }
        let threads = wantedCalls == nil ? nil : await ProcessFigures.settledThreads()
        let descriptors = ProcessFigures.descriptors
        let start = ContinuousClock.now
        let (finished, account) = try await run(calls: calls, seed: 42, loops)
        let time = start.duration(to: .now)
        let (sent, received, connections) = (finished.sent, finished.received, finished.connections)

        #expect(account.endings.values.reduce(0, +) == calls)
        for case (.untyped(let error), let count) in account.endings { Issue.record("\(count) calls ended with \(error)") }
        #expect(account.uninvitedCancellations == 0)
        #expect(account.endings[.success, default: 0] > 0)
        #expect(sent.most <= (1 + SoakRun.maxRetries) * (1 + SoakRun.redirectLimit))
        #expect(sent.unrepeatable <= 1)
        // A transport may send again by itself what found a kept connection dead (RFC 9112 §9.3.1), once for each that dies.
        #expect(received <= sent.all + connections)

        guard wantedCalls != nil else { return }
        if finished.usesNginx { #expect(account.overHTTP2 > 0) }
        let resident = ProcessFigures.residentKilobytes
        let threadsAfter = await ProcessFigures.settledThreads()
        if let descriptors { #expect(ProcessFigures.descriptors ?? 0 <= descriptors) }
        if let threads { #expect(threadsAfter ?? 0 <= threads) }
        if account.resident.count > 5, let resident {
            let half = account.resident[5]
            #expect(resident < half + max(half / 10, 16_384), "memory grew from \(half) to \(resident) kB")
        }
        print("soak: \(loops), \(calls) calls in \(time), \(connections) connections")
        print("soak: \(finished.usesNginx ? "half of them to nginx" : "no nginx"), \(account.overHTTP2) responses over HTTP/2")
        print("soak: \(sent.all) requests sent, at most \(sent.most) for a call; \(received) received")
        print("soak: descriptors \(descriptors ?? -1) → \(ProcessFigures.descriptors ?? -1)")
        print("soak: threads \(threads ?? -1) → \(threadsAfter ?? -1)")
        print("soak: resident kB by tenths \(account.resident), at the end \(resident ?? -1)")
        print("soak: \(String(describing: account.retryBudget))")
        for (ending, count) in account.endings.sorted(by: { $0.value > $1.value }) { print("soak: \(count) × \(ending)") }
    }

    /// What moves the bytes.
    private enum Loops: CaseIterable {
        case one
        #if os(Linux)
            /// With fewer connections than calls, so that some always wait.
            case three
        #endif
    }

    /// What is left of a run, whose servers are gone.
    private struct Finished {
        let sent: (most: Int, unrepeatable: Int, all: Int)
        let received: Int
        let connections: Int
        let usesNginx: Bool

        init(_ run: SoakRun) {
            (sent, received, connections, usesNginx) = (run.sent, run.received, run.connections, run.nginx != nil)
        }
    }

    private func run(calls: Int, seed: UInt64, _ loops: Loops) async throws -> (Finished, SoakRun.Account) {
        let run = try SoakRun(calls: calls, seed: seed, restarts: wantedCalls != nil)
        var transport: (any HTTPTransport & AnyObject)? = Self.transport(loops, trusting: run.nginx?.authority)
        weak let released = transport
        let account = try await run.run(on: #require(transport), inFlight: 128)
        // Nothing is under way any more, so nothing may hold the transport.
        transport = nil
        await eventually { released == nil }
        #expect(released == nil)
        await eventually { run.openConnections == 0 }
        #expect(run.openConnections == 0)
        run.shutdown()
        if wantedCalls != nil { try await Task.sleep(for: .milliseconds(200)) }
        return (Finished(run), account)
    }

    /// The one that `MIDSTREAM_TRANSPORT` names, otherwise the platform's.
    private static func transport(_ loops: Loops, trusting authority: String?) -> any HTTPTransport & AnyObject {
        #if os(Linux)
            var configuration = TransportConfiguration()
            if loops == .three { (configuration.eventLoops, configuration.maximumConnectionsPerHost) = (3, 24) }
            configuration.tls.authorities = authority.map { .file($0) }
            let name = ProcessInfo.processInfo.environment["MIDSTREAM_TRANSPORT"]
            return name == "curl" ? CurlTransport(configuration: configuration) : WireTransport(configuration: configuration)
        #else
            return URLSessionTransport()
        #endif
    }

    /// Waits for what other threads do without telling, ten seconds at most.
    private func eventually(_ isSo: () -> Bool) async {
        for _ in 1...1_000 where !isSo() { try? await Task.sleep(for: .milliseconds(10)) }
    }
}
