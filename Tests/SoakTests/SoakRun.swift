import Interception
import Midstream
import MidstreamTesting

/// Many calls at once to a server that misbehaves, half of them to nginx where it runs, and the account of what became of them.
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
        /// How many responses came over HTTP/2.
        var overHTTP2 = 0
        /// The resident memory, in kilobytes, each time that a tenth of the calls had begun.
        var resident: [Int] = []
        var retryBudget: RetryBudget.State?
    }

    static let maxRetries = 3
    static let redirectLimit = 3
    private static let limits = MockServer.Limits(keptBody: 0, keptRequests: 10)

    let nginx = NginxScript()
    private let baseURL: String
    private let script: SoakScript
    /// The one that runs, and those that it has taken the place of.
    private let servers: Locked<[MockServer]>
    private let calls: Int
    private let seed: UInt64
    private let restarts: Bool
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

    /// - Parameter restarts: Whether the server stops in the middle, and another one takes its port.
    init(calls: Int, seed: UInt64, restarts: Bool) throws {
        self.calls = calls
        self.seed = seed
        self.restarts = restarts
        script = SoakScript(seed: seed)
        counts = Locked(Array(repeating: Counts(), count: calls))
        let server = try restarts ? Self.replaceableServer() : MockServer(limits: Self.limits)
        baseURL = server.url()
        servers = Locked([server])
        begin(server)
    }

    /// Connections that linger keep a port that the system chose from the next server, unlike one that was asked for. This is one below those
    /// that the system gives to outgoing connections and other tests' servers, so that none of them takes it meanwhile.
    private static func replaceableServer() throws -> MockServer {
        func listening() throws -> MockServer { try MockServer(port: .random(in: 20_000..<32_000), limits: limits) }
        for _ in 1..<100 {
            if let server = try? listening() { return server }
        }
        return try listening()
    }

    private func begin(_ server: MockServer) {
        let (script, counts) = (script, counts)
        server.respond { request in
            let call = Int(request.path.dropFirst()) ?? 0
            if request.method == .post, request.query("hop") == nil { counts.withLock { $0[call].unrepeatable += 1 } }
            return script.answer(to: request, call: call)
        }
    }

    /// The most requests for one call, the most times that the server got one that may not be repeated, and all requests to it.
    var sent: (most: Int, unrepeatable: Int, all: Int) {
        let counts = counts.withLock { $0 }
        let toServer = counts.indices.filter { !isToNginx($0) }
        return (
            Int(counts.map(\.sent).max() ?? 0), Int(counts.map(\.unrepeatable).max() ?? 0),
            toServer.reduce(0) { $0 + Int(counts[$1].sent) }
        )
    }

    /// How many requests the server got, before and after it was restarted.
    var received: Int { sum(\.requestCount) }
    var connections: Int { sum(\.connectionCount) }
    var openConnections: Int { sum(\.openConnections) }

    private func sum(_ figure: (MockServer) -> Int) -> Int {
        servers.withLock { $0 }.reduce(0) { $0 + figure($1) }
    }

    func shutdown() { servers.withLock { $0 }.forEach { $0.shutdown() } }

    func run(on transport: any HTTPTransport, inFlight: Int) async throws -> Account {
        let client = client(transport)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<inFlight {
                group.addTask { [self] in
                    while let call = takeCall() {
                        if restarts, call == calls / 2 { try await restart() }
                        await make(call, client)
                    }
                }
            }
            try await group.waitForAll()
        }
        return account.withLock { account in
            account.retryBudget = client.retryBudget
            return account
        }
    }

    /// Has the server's connections refused for a moment, and another one listen on its port.
    private func restart() async throws {
        guard let old = servers.withLock({ $0.last }) else { return }
        old.shutdown()
        try await Task.sleep(for: .milliseconds(100))
        let server = try await Self.server(on: old.port)
        begin(server)
        servers.withLock { $0.append(server) }
    }

    /// Tries for some seconds, since another test or program may have asked for the port meanwhile.
    private static func server(on port: Int) async throws -> MockServer {
        for _ in 1..<50 {
            if let server = try? MockServer(port: port, limits: limits) { return server }
            try await Task.sleep(for: .milliseconds(100))
        }
        return try MockServer(port: port, limits: limits)
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
        return HTTPClient(baseURL: baseURL, configuration: configuration, transport: transport) {
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
            try await Self.cancelling(after: patience) { [self] in
                guard isStreamed else {
                    try await note(client.send(request))
                    return
                }
                let response = try await client.stream(request)
                note(response)
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

    private func note(_ response: HTTPResponse) {
        if response.version == .http2 { account.withLock { $0.overHTTP2 += 1 } }
    }

    private func isToNginx(_ call: Int) -> Bool { nginx != nil && !call.isMultiple(of: 2) }

    private func request(_ call: Int, _ random: inout SplitMix) -> HTTPRequest {
        let bytes = Array(repeating: UInt8(ascii: "b"), count: Int.random(in: 1...30_000, using: &random))
        var request: HTTPRequest
        if let nginx, isToNginx(call) {
            request = nginx.request(with: bytes, &random)
        } else {
            request = script.request(call, with: bytes, &random)
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
