import Foundation
import Measuring
import Midstream

/// Prints what observers of calls cost: allocations and time of an exchange in the pipeline alone, and the processor time of a request to a server as a
/// ratio to a client without observers.
///
/// `--count NAME TIMES SERVER` makes one kind of request so many times and measures nothing; `--names` says which there are.
@main
struct TelemetryBench {
    /// Answers at once, so that nothing but the pipeline is measured.
    private struct Instant: HTTPTransport {
        func send(_ request: HTTPRequest) async throws -> HTTPResponse {
            HTTPResponse(status: 200, headers: ["Content-Type": "text/plain"], body: .bytes([65]), request: request)
        }
    }

    private static let rounds = 15

    static func main() { runToEnd { try await measure() } }

    private static func measure() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments == ["--names"] {
            return print(["pass, ", "wire, "].flatMap { kind in Observers.all.map { kind + $0.name } }.joined(separator: "\n"))
        }
        if arguments.count == 4, arguments[0] == "--count", let times = Int(arguments[2]) {
            guard let observers = Observers.all.first(where: { arguments[1].hasSuffix(", " + $0.name) }) else {
                return print("no such name: \(arguments[1])")
            }
            let isPass = arguments[1].hasPrefix("pass")
            let contestant = try Contestant(observers, over: isPass ? Instant() : nil, url: isPass ? nil : arguments[3])
            return try await contestant.send(times)
        }
        try await passes()
        if let server = ProcessInfo.processInfo.environment["MIDSTREAM_NGINX_HTTP"] { try await wire(server) }
    }

    /// Each next to one without observers, and the median of many rounds, since others use the machine, too.
    private static func passes() async throws {
        let requests = 8 * Contestant.batch
        let bare = try Contestant(Observers.all[0], over: Instant())
        try await bare.send(requests)
        print("an exchange in the pipeline alone; observers add")
        for observers in Observers.all.dropFirst() {
            let contestant = try Contestant(observers, over: Instant())
            try await contestant.send(requests)
            var added: [Double] = []
            for _ in 0..<rounds {
                let base = try await cost(of: bare, requests).seconds
                added.append(try await cost(of: contestant, requests).seconds - base)
            }
            var text = String(format: "  \(observers.name): %.1f µs", added.median * 1e6)
            if let base = try await cost(of: bare, requests).allocations,
                let own = try await cost(of: contestant, requests).allocations
            {
                text += String(format: ", %.1f allocations", own - base)
            }
            print(text)
        }
    }

    private static func wire(_ server: String) async throws {
        let requests = 2 * Contestant.batch
        let bare = try Contestant(Observers.all[0], url: server)
        try await bare.send(requests)
        print("\nprocessor time of a send() of 1 KiB over HTTP/1.1, as a ratio to a client without observers:")
        for observers in Observers.all {
            let contestant = try Contestant(observers, url: server)
            try await contestant.send(requests)
            var ratios: [Double] = []
            for _ in 0..<rounds {
                let before = try await cost(of: bare, requests).seconds
                let own = try await cost(of: contestant, requests).seconds
                ratios.append(2 * own / (before + (try await cost(of: bare, requests).seconds)))
            }
            print(String(format: "  \(observers.name): %.3f×", ratios.median))
        }
    }

    /// Of one request: processor time, and allocations when the counting library is preloaded.
    private static func cost(
        of contestant: Contestant, _ requests: Int
    ) async throws -> (seconds: Double, allocations: Double?) {
        let (seconds, allocations) = (Usage.processorSeconds, Usage.allocations)
        try await contestant.send(requests)
        let count = Usage.allocations.flatMap { now in allocations.map { Double(now - $0) / Double(requests) } }
        return ((Usage.processorSeconds - seconds) / Double(requests), count)
    }
}
