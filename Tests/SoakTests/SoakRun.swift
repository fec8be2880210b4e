import Interception
import Midstream
import MidstreamTesting

/// Many calls at once to a server that misbehaves, and the account of what became of them.
final class SoakRun: Sendable {
    /// How a call ended.
    enum Ending: Hashable, Sendable {
        case success
        case error(HTTPError.Code)
        case cancelled
        /// Neither, which no call may.
        case untyped(String)
    }

    struct Account: Sendable {
        var endings: [Ending: Int] = [:]
        /// How many calls ended with a cancellation that nobody had asked for.
        var uninvitedCancellations = 0
        /// The resident memory, in kilobytes, each time that a tenth of the calls had begun.
        var resident: [Int] = []
        var retryBudget: RetryBudget.State?
    }

    static let maxRetries = 3
    static let redirectLimit = 3

    let server: MockServer
    private let calls: Int
    private let seed: UInt64
    private let next = Locked(0)
    private let account = Locked(Account())
    private let counts: Locked<[Counts]>

    /// What went over the wire for one call.
    private struct Counts {
        /// How many requests the client gave to its transport.
        var sent: UInt16 = 0
        /// How many of those that the server got were a POST that may not be repeated.
        var unrepeatable: UInt16 = 0
    }

    private enum CallNumber: RequestContextKey { static let defaultValue = 0 }

    init(calls: Int, seed: UInt64) throws {
        self.calls = calls
        self.seed = seed
        counts = Locked(Array(repeating: Counts(), count: calls))
        server = try MockServer(limits: MockServer.Limits(keptBody: 0, keptRequests: 10))
        let (script, counts) = (SoakScript(seed: seed), counts)
        server.respond { request in
            let call = Int(request.path.dropFirst()) ?? 0
            if request.method == .post, request.query("hop") == nil { counts.withLock { $0[call].unrepeatable += 1 } }
            return script.answer(to: request, call: call)
        }
    }

    /// The most requests for one call, the most times that the server got one that may not be repeated, and all requests.
    var sent: (most: Int, unrepeatable: Int, all: Int) {
        counts.withLock { counts in
            (
                Int(counts.map(\.sent).max() ?? 0), Int(counts.map(\.unrepeatable).max() ?? 0),
                counts.reduce(0) { $0 + Int($1.sent) }
            )
        }
    }

    func run(on transport: any HTTPTransport, inFlight: Int) async -> Account {
        let client = client(transport)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<inFlight {
                group.addTask { [self] in
                    while let call = takeCall() { await make(call, client) }
                }
            }
        }
        return account.withLock { account in
            account.retryBudget = client.retryBudget
            return account
        }
    }

    private func client(_ transport: any HTTPTransport) -> HTTPClient {
        let soon = RetryStrategy.exponential(base: .milliseconds(1), cap: .milliseconds(20), jitter: .full)
        var configuration = HTTPClient.Configuration()
        configuration.timeout = .milliseconds(250)
        configuration.maxRetries = Self.maxRetries
        configuration.redirects = .follow(limit: Self.redirectLimit)
        configuration.retryBudget = RetryBudget(share: 0.8)
        configuration.maximumBufferedBody = 1 << 20
        configuration.validators = [
            DefaultValidator(
                retriableStatus: DefaultValidator.usualStatus.mapValues { _ in soon },
                retriableErrors: DefaultValidator.usualErrors.mapValues { _ in soon })
        ]
        let counts = counts
        return HTTPClient(baseURL: server.url(), configuration: configuration, transport: transport) {
            ClosureRequestInterceptor(stage: .exchange) { request in
                request.headers[SoakScript.attemptHeader] = "\(request.attempt)"
                let call = request.context[CallNumber.self]
                counts.withLock { $0[call].sent += 1 }
            }
        }
    }

    private func takeCall() -> Int? {
        let call = next.withLock { next -> Int? in
            guard next < calls else { return nil }
            defer { next += 1 }
            return next
        }
        if let call, call % max(1, calls / 10) == 0, let resident = ProcessFigures.residentKilobytes {
            account.withLock { $0.resident.append(resident) }
        }
        return call
    }

    // MARK: One call

    private func make(_ call: Int, _ client: HTTPClient) async {
        var random = SplitMix(seed ^ UInt64(call) &* 7_919)
        let request = request(call, &random)
        let isStreamed = Int.random(in: 0..<8, using: &random) == 0
        let readsAll = Bool.random(using: &random)
        // What is streamed has no time limit once the head is there.
        let patience: Duration? =
            isStreamed
            ? .milliseconds(300)
            : Int.random(in: 0..<20, using: &random) == 0 ? .milliseconds(Int.random(in: 0...60, using: &random)) : nil
        let ending: Ending
        do {
            try await Self.cancelling(after: patience) {
                guard isStreamed else {
                    _ = try await client.send(request)
                    return
                }
                let response = try await client.stream(request)
                for try await _ in response.body where !readsAll { return }
            }
            ending = .success
        } catch let error as HTTPError {
            ending = .error(error.code)
        } catch is CancellationError {
            ending = .cancelled
        } catch {
            ending = .untyped("\(error)")
        }
        account.withLock { account in
            account.endings[ending, default: 0] += 1
            if ending == .cancelled, patience == nil { account.uninvitedCancellations += 1 }
        }
    }

    private func request(_ call: Int, _ random: inout SplitMix) -> HTTPRequest {
        let bytes = Array(repeating: UInt8(ascii: "b"), count: Int.random(in: 1...30_000, using: &random))
        var request: HTTPRequest
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<6: request = HTTPRequest("/\(call)")
        case 6: request = HTTPRequest(.post, "/\(call)", body: .bytes(bytes))
        case 7: request = HTTPRequest(.put, "/\(call)", body: .stream { AsyncStream.chunks(of: bytes) })
        case 8: request = HTTPRequest(.put, "/\(call)", body: .once(AsyncStream.chunks(of: bytes), length: Int64(bytes.count)))
        default: request = HTTPRequest(.head, "/\(call)")
        }
        if Int.random(in: 0..<10, using: &random) == 0 { request.deadline = .milliseconds(100) }
        request.context[CallNumber.self] = call
        return request
    }

    private static func cancelling(
        after patience: Duration?, _ work: @escaping @Sendable () async throws -> Void
    ) async throws {
        guard let patience else { return try await work() }
        let task = Task { try await work() }
        let cancelling = Task {
            try await Task.sleep(for: patience)
            task.cancel()
        }
        defer { cancelling.cancel() }
        try await task.value
    }
}

extension AsyncStream where Element == [UInt8] {
    fileprivate static func chunks(of bytes: [UInt8]) -> Self {
        let rest = Locked(bytes[...])
        return Self(unfolding: {
            rest.withLock { rest in
                let chunk = rest.prefix(4_096)
                rest = rest.dropFirst(4_096)
                return chunk.isEmpty ? nil : Array(chunk)
            }
        })
    }
}
