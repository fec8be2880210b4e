import Foundation
import Measuring
import Midstream
import MidstreamCurl
import Synchronization

/// One bomb, one way to take it.
struct BombTrial: Sendable {
    struct Result {
        /// How many bytes of it were read.
        var decoded: Int64 = 0
        /// The longest that another request took meanwhile, in milliseconds.
        var wait = 0.0
        /// The same for one whose response is encoded, too.
        var encodedWait = 0.0
        /// By how many bytes the resident memory rose at most.
        var rise = 0
        var seconds = 0.0
        /// The processor's time of the whole process.
        var processorSeconds = 0.0
    }

    struct Unexpected: Error {
        let text: String
    }

    let server: String
    let coding: String
    let delivery: Delivery

    func run() async throws -> Result {
        var connections = CurlTransport.Configuration()
        connections.maximumDecodedRatio = nil
        connections.offersZstandard = true
        let transport = CurlTransport(configuration: connections)
        defer { transport.close() }
        var configuration = HTTPClient.Configuration()
        configuration.maximumBufferedBody = delivery == .limited ? 4 << 20 : 2 << 30
        let client = HTTPClient(baseURL: server, configuration: configuration, transport: transport)
        // Opens the connections, and has the memory taken that any request takes.
        for _ in 0..<200 { _ = (try await client.send(HTTPRequest("plain")), try await client.send(HTTPRequest("small-gzip"))) }

        let pings = Pings(client: client)
        let before = ResidentMemory.now
        ResidentMemory.forgetPeak()
        let clock = ContinuousClock()
        let start = clock.now
        let used = Usage.processorSeconds
        async let plain = pings.longest("plain")
        async let encoded = pings.longest("small-gzip")
        var result = Result()
        // Given back when nobody is waited for any more, since a process that gives a gibibyte back stands still meanwhile.
        var kept: HTTPResponse?
        do {
            (result.decoded, kept) = try await decode(client)
        } catch {
            pings.stop()
            throw error
        }
        let peak = ResidentMemory.peak
        pings.stop()
        result.seconds = (clock.now - start) / .seconds(1)
        result.processorSeconds = Usage.processorSeconds - used
        result.wait = try await plain
        result.encodedWait = try await encoded
        result.rise = peak - before
        return withExtendedLifetime(kept) { result }
    }

    /// How many bytes came, and the response that has them.
    private func decode(_ client: HTTPClient) async throws -> (Int64, HTTPResponse?) {
        let request = HTTPRequest(coding)
        switch delivery {
        case .streamed:
            var count: Int64 = 0
            for try await chunk in try await client.stream(request).body { count += Int64(chunk.count) }
            guard count == 1 << 30 else { throw Unexpected(text: "\(count) bytes came") }
            return (count, nil)
        case .stalled:
            let response = try await client.stream(request)
            var chunks = response.body.makeAsyncIterator()
            let first = try await chunks.next()
            try await Task.sleep(for: .seconds(2))
            response.body.close()
            return (Int64(first?.count ?? 0), nil)
        case .limited:
            do {
                _ = try await client.send(request)
                throw Unexpected(text: "the bomb was taken")
            } catch let error as HTTPError where error.code == .bodyTooLarge {
                return (4 << 20, nil)
            }
        case .buffered:
            let response = try await client.send(request)
            return (Int64(response.body.bytes?.count ?? 0), response)
        }
    }
}

/// Small requests, one after the other, until they are stopped.
final class Pings: Sendable {
    private let client: HTTPClient
    private let isOver = Flag()

    init(client: HTTPClient) { self.client = client }

    func stop() { isOver.set() }

    /// The longest that one took, in milliseconds.
    func longest(_ path: String) async throws -> Double {
        let clock = ContinuousClock()
        var longest = Duration.zero
        while !isOver.isSet {
            let start = clock.now
            _ = try await client.send(HTTPRequest(path))
            longest = max(longest, clock.now - start)
            try await Task.sleep(for: .milliseconds(1))
        }
        return longest / .milliseconds(1)
    }
}

final class Flag: Sendable {
    private let value = Mutex(false)

    func set() { value.withLock { $0 = true } }
    var isSet: Bool { value.withLock { $0 } }
}
