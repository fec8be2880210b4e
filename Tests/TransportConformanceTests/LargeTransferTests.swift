import Foundation
import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

/// What is too large for the memory passes through it all the same. Each case runs in a process of its own, whose memory is its alone.
@Suite(.leavesNothing, .serialized, .timeLimit(.minutes(10))) struct LargeTransferTests {
    @Test(arguments: TransportUnderTest.allCases) func aGibibyteComesDown(transport: TransportUnderTest) async throws {
        await #expect(processExitsWith: .success) { [transport = transport as TransportUnderTest] in
            try await Large.download(on: transport)
        }
    }

    @Test(arguments: TransportUnderTest.allCases) func aQuarterOfItGoesUp(transport: TransportUnderTest) async throws {
        await #expect(processExitsWith: .success) { [transport = transport as TransportUnderTest] in
            try await Large.upload(on: transport)
        }
    }

    @Test(.enabled(if: Nginx.isRunning), arguments: TransportUnderTest.allCases)
    func aGibibyteComesDownFromNginx(transport: TransportUnderTest) async throws {
        await #expect(processExitsWith: .success) { [transport = transport as TransportUnderTest] in
            try await Large.downloadFromNginx(on: transport)
        }
    }
}

private enum Large {
    /// What a sanitizer costs in time is paid for with size.
    static let gibibyte = isSanitized ? 64 << 20 : 1 << 30
    /// A tenth of the smallest transfer, and many times what the buffers on the way hold.
    static let allowance = 64 << 20

    static func download(on transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        let client = transport.client()
        // The first request pays for what is loaded and made once.
        server.enqueue(.init(body: .pattern(length: 1 << 20)), .init(body: .pattern(length: gibibyte)))
        try await expectBytes(1 << 20, from: server.url(), by: client)
        let before = peakMemory()
        try await expectBytes(gibibyte, from: server.url(), by: client)
        expectConstant(before)
    }

    static func downloadFromNginx(on transport: TransportUnderTest) async throws {
        guard let origin = Nginx.http else { return }
        let client = transport.client()
        try await expectBytes(10 << 20, from: origin + "/10m", by: client)
        let before = peakMemory()
        try await expectBytes(1 << 30, from: origin + "/large", by: client)
        expectConstant(before)
    }

    static func upload(on transport: TransportUnderTest) async throws {
        let server = try MockServer(limits: .init(maximumBody: 1 << 30, keptBody: 0))
        defer { server.shutdown() }
        server.respond { _ in .init() }
        let client = transport.client()
        func send(_ length: Int) async throws {
            let piece = [UInt8](repeating: 7, count: 64 << 10)
            let body = HTTPBody.stream(length: Int64(length)) {
                let sent = Locked(0)
                return AsyncStream<[UInt8]> {
                    sent.withLock { sent in
                        guard sent < length else { return nil }
                        sent += piece.count
                        return piece
                    }
                }
            }
            #expect(try await client.send(HTTPRequest(.put, server.url(), body: body)).status == .ok)
            #expect(try await server.takeRequest().bodyLength == length)
        }
        try await send(1 << 20)
        let before = peakMemory()
        try await send(gibibyte / 4)
        expectConstant(before)
    }

    private static func expectBytes(_ expected: Int, from url: String, by client: HTTPClient) async throws {
        let response = try await client.stream(HTTPRequest(url))
        #expect(response.status == .ok)
        var count = 0
        for try await chunk in response.body { count += chunk.count }
        #expect(count == expected)
    }

    private static func expectConstant(_ before: Int?) {
        guard let before, let after = peakMemory(), !isSanitized else { return }
        #expect(after - before < allowance, "The peak grew from \(before >> 20) to \(after >> 20) MiB.")
    }

    /// The most memory that the process has had at a time, where the system tells.
    private static func peakMemory() -> Int? {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") })
        else { return nil }
        return line.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 << 10 }
    }

    /// Whether the process was built with a sanitizer, under which everything is slower and larger.
    private static let isSanitized: Bool = {
        guard let process = dlopen(nil, RTLD_NOW) else { return false }
        defer { dlclose(process) }
        return dlsym(process, "__tsan_init") != nil || dlsym(process, "__asan_init") != nil
    }()
}
