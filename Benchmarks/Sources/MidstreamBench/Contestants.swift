import Foundation
import Midstream
import MidstreamCurl
import MidstreamURLSession
import MidstreamWire

/// Does nothing: what it costs is what any interceptor costs.
struct PassThrough: HTTPInterceptor {
    func intercept(
        _ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>
    ) async throws -> HTTPResponse {
        try await next(request)
    }
}

/// Answers at once.
struct ImmediateTransport: HTTPTransport {
    func send(_ request: HTTPRequest) async throws -> HTTPResponse { HTTPResponse(status: .ok, request: request) }
}

/// Answers at once with what a cache may store.
struct StorableTransport: HTTPTransport {
    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        HTTPResponse(
            status: .ok,
            headers: ["Cache-Control": "max-age=600", "Date": "Sun, 06 Nov 2033 08:49:37 GMT", "ETag": "\"abc\""],
            body: .bytes([UInt8](repeating: 65, count: 1 << 10)), request: request)
    }
}

/// So many times 64 KiB.
struct Chunks: AsyncSequence, AsyncIteratorProtocol, Sendable {
    private static let chunk = [UInt8](repeating: 0, count: 64 << 10)

    var left: Int

    mutating func next() async -> [UInt8]? {
        left -= 1
        return left < 0 ? nil : Self.chunk
    }

    func makeAsyncIterator() -> Self { self }
}

/// What the transports have in common whose bytes a loop moves.
protocol LoopTransport: HTTPTransport {
    func close()
}

extension CurlTransport: LoopTransport {}
extension WireTransport: LoopTransport {}

extension Options {
    func outcome() async throws -> Outcome {
        switch mode {
        case .transport:
            return try await onTransport { transport in
                WireRun(options: self) {
                    var response = try await transport.send(HTTPRequest(url))
                    response.body = try await .bytes(response.body.collect())
                    return response
                }
            }
        case .client:
            return try await onTransport { transport in
                let client = client(on: transport)
                return WireRun(options: self) { try await client.send(request) }
            }
        case .urlsession:
            let client = client(on: URLSessionTransport())
            return try await WireRun(options: self) { try await client.send(request) }.outcome()
        case .upload:
            let body = try uploadsFile ? fileToUpload() : HTTPBody.stream { [upload] in Chunks(left: upload << 4) }
            return try await onTransport { transport in
                let client = client(on: transport)
                let request = HTTPRequest(.put, url, body: body)
                return WireRun(options: self) { try await client.send(request) }
            }
        case .download: return try await download()
        case .stub: return try await throughPipeline()
        case .copy: return copies()
        }
    }

    /// A file that is gone from its folder at once, and named by its descriptor.
    private func fileToUpload() throws -> HTTPBody {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("upload-\(UUID())")
        try Data().write(to: file)
        let handle = try FileHandle(forWritingTo: file)
        try FileManager.default.removeItem(at: file)
        for _ in 0..<upload { try handle.write(contentsOf: Data(count: 1 << 20)) }
        // Open to the end of the process.
        _ = Unmanaged.passRetained(handle)
        return .file(URL(fileURLWithPath: "/proc/self/fd/\(handle.fileDescriptor)"))
    }

    private func client(
        on transport: any HTTPTransport, configuration: HTTPClient.Configuration = .init()
    ) -> HTTPClient {
        var configuration = configuration
        configuration.recordsTrace = recordsTrace
        switch observer {
        case "line": configuration.observers = [CallLog { _ in }]
        case "json": configuration.observers = [CallLog(as: .json) { _ in }]
        case "nothing": configuration.observers = [NullObserver()]
        default: break
        }
        return HTTPClient(configuration: configuration, transport: transport) {
            for _ in 0..<interceptors { PassThrough() }
            for part in parts { Self.part(part) }
        }
    }

    /// A part of resilience that lets everything through, or a cache.
    private static func part(_ name: String) -> any HTTPInterceptor {
        switch name {
        case "nothing": PassThrough().at(.exchange)
        case "concurrency": ConcurrencyLimit()
        case "fixed": ConcurrencyLimit(.fixed(200))
        case "breaker": CircuitBreaker()
        case "quota": RateLimit(perSecond: 1e8, burst: 1e8)
        case "hedging": Hedging()
        case "deadline": DeadlineHeader(milliseconds: "X-Request-Timeout-Ms")
        case "fallback": Fallback { request, _ in HTTPResponse(status: .ok, request: request) }
        case "coalescing": Coalescing()
        case "cache": CacheInterceptor()
        case "standard": Resilience.standard
        default: preconditionFailure("no part is called \(name)")
        }
    }

    private var request: HTTPRequest { HTTPRequest(HTTPMethod(rawValue: method), url) }

    private func loopTransport() -> any LoopTransport {
        var configuration = TransportConfiguration()
        configuration.tls.authorities = authorities.map { .file($0) }
        configuration.httpVersions = isHTTP2 ? .automatic : .http1Only
        return switch loop {
        case .curl: CurlTransport(configuration: configuration)
        case .wire: WireTransport(configuration: configuration)
        }
    }

    private func onTransport(_ run: (any LoopTransport) -> WireRun) async throws -> Outcome {
        let transport = loopTransport()
        defer { transport.close() }
        let run = run(transport)
        guard runsOnLoop else { return try await run.outcome() }
        return try await withTaskExecutorPreference(transport.executor) { try await run.outcome() }
    }

    private func download() async throws -> Outcome {
        let client = client(on: loopTransport())
        let before = Reading()
        for _ in 0..<requests {
            let response = try await client.stream(HTTPRequest(url))
            var received: Int64 = 0
            for try await chunk in response.body { received += Int64(chunk.count) }
            guard received == response.body.length else { throw Failure(description: "\(received) bytes came") }
        }
        return Outcome(options: self, before: before, after: Reading())
    }

    private func throughPipeline() async throws -> Outcome {
        // Without the timeout, whose task costs many times what an interceptor does.
        var configuration = HTTPClient.Configuration()
        configuration.timeout = nil
        let transport: any HTTPTransport = parts.contains("cache") ? StorableTransport() : ImmediateTransport()
        let client = client(on: transport, configuration: configuration)
        for number in 0..<requests / 10 { _ = try await client.send(request(number)) }
        let before = Reading()
        for number in requests / 10..<requests / 10 + requests { _ = try await client.send(request(number)) }
        return Outcome(options: self, before: before, after: Reading())
    }

    /// One of many requests, the same as all others or not.
    private func request(_ number: Int) -> HTTPRequest {
        // An interpolation would be encoded.
        isDistinct ? HTTPRequest(HTTPMethod(rawValue: method), url + "?" + String(number)) : request
    }

    private func copies() -> Outcome {
        let original = HTTPRequest(
            .post, url,
            headers: [
                "Accept": "application/json", "Authorization": "Bearer 0123456789", "User-Agent": "bench/1",
                "Content-Type": "application/json",
            ], body: .bytes(Array(repeating: 32, count: 512)))
        // Kept in memory, so that the copies can't be optimised away.
        var copies = Array(repeating: original, count: 16)
        let before = Reading()
        for number in 0..<requests {
            var copy = original
            copy.timeout = .nanoseconds(number)
            copies[number & 15] = copy
        }
        let after = Reading()
        precondition(copies.contains { $0.timeout == .nanoseconds(requests - 1) })
        return Outcome(options: self, before: before, after: after)
    }
}

/// Ignores the record of each call.
private struct NullObserver: CallObserver {}
