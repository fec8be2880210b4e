import Foundation
import Measuring
import Midstream
import MidstreamWebSocket
import MidstreamWire

/// How much memory a socket takes over which nothing goes.
struct IdleTrial {
    private let client: HTTPClient
    private let url: String
    private let count: Int
    private let deflates: Bool
    private let isRead: Bool

    init(url: String, count: Int, _ options: Set<String>) {
        var configuration = TransportConfiguration()
        configuration.maximumConnectionsPerHost = nil
        configuration.maximumConnections = nil
        if let file = options.first(where: { $0.hasPrefix("/") }) { configuration.tls.authorities = .file(file) }
        client = HTTPClient(transport: WireTransport(configuration: configuration))
        self.url = url
        self.count = count
        deflates = options.contains("deflate")
        isRead = !options.contains("unread")
    }

    func run() async throws {
        var sockets: [WebSocket] = []
        sockets.reserveCapacity(count + 20)
        var readers: [Task<Void, any Error>] = []
        readers.reserveCapacity(count + 20)
        func open(_ count: Int) async throws {
            for _ in 0..<count {
                let socket = try await client.webSocket("\(raw: url)") { $0.compression = deflates ? .offered : .off }.connect()
                guard socket.isCompressing == deflates else { throw Surprise(description: "compression isn't as wanted") }
                sockets.append(socket)
                if isRead { readers.append(Task { for try await _ in socket {} }) }
            }
            // All have begun to wait.
            try await Task.sleep(for: .milliseconds(300))
        }
        // What the first ones need for good.
        try await open(20)
        let before = ResidentMemory.now
        try await open(count)
        let taken = ResidentMemory.now - before
        print(String(format: "{\"bytes\": %.0f}", Double(taken) / Double(count)))
        for reader in readers { reader.cancel() }
        withExtendedLifetime(sockets) {}
    }
}
