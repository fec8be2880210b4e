import Foundation
import Measuring
import Midstream
import MidstreamWebSocket

/// Messages over one socket.
struct TrafficTrial: Sendable {
    let client: HTTPClient
    let url: String
    let count: Int
    let message: [UInt8]

    func run(_ what: String) async throws {
        let path = what == "chunks" ? "/count" : "/"
        let socket = try await client.webSocket("\(raw: url + path)") { $0.maximumMessage = 1 << 30 }.connect()
        var messages = socket.makeAsyncIterator()
        func pass(_ count: Int) async throws {
            switch what {
            case "echo": try await echo(socket, &messages, count)
            case "bulk": try await bulk(socket, &messages, count)
            case "chunks": try await chunks(socket, &messages, count)
            default: try await bulk(socket, &messages, 1)
            }
        }
        // What the first messages need for good; one as large as what is measured would leave room for it.
        if what == "receive" {
            try await socket.send([1])
            try check(await messages.next(), 1)
        } else {
            try await pass(50)
        }
        ResidentMemory.forgetPeak()
        let (resident, begin, used, allocated) = (
            ResidentMemory.now, ContinuousClock.now, Usage.processorSeconds, Usage.allocations
        )
        try await pass(count)
        let seconds = (ContinuousClock.now - begin) / .seconds(1)
        var text = String(
            format: "{\"seconds\": %.6f, \"cpuSeconds\": %.6f, \"peak\": %d", seconds, Usage.processorSeconds - used,
            ResidentMemory.peak - resident)
        if let allocated, let now = Usage.allocations {
            text += String(format: ", \"allocations\": %.2f", Double(now - allocated) / Double(count))
        }
        print(text + "}")
    }

    private func echo(_ socket: WebSocket, _ messages: inout WebSocket.AsyncIterator, _ count: Int) async throws {
        for _ in 0..<count {
            try await socket.send(message)
            try check(await messages.next(), message.count)
        }
    }

    private func bulk(_ socket: WebSocket, _ messages: inout WebSocket.AsyncIterator, _ count: Int) async throws {
        async let sent: Void = sendAll(socket, count)
        for _ in 0..<count { try check(await messages.next(), message.count) }
        try await sent
    }

    private func sendAll(_ socket: WebSocket, _ count: Int) async throws {
        for _ in 0..<count { try await socket.send(message) }
    }

    private func chunks(_ socket: WebSocket, _ messages: inout WebSocket.AsyncIterator, _ count: Int) async throws {
        try await socket.send(.binary, chunks: Repeated(chunk: message, left: count))
        guard case .text(let text)? = try await messages.next(), text == "\(count * message.count)" else {
            throw Surprise(description: "not counted as \(count * message.count) bytes")
        }
    }

    private func check(_ received: WebSocketMessage?, _ size: Int) throws {
        guard case .binary(let bytes)? = received, bytes.count == size else {
            throw Surprise(description: "another message came back: \(received.map { "\($0)" } ?? "none")")
        }
    }
}

/// The same chunk again and again.
private struct Repeated: AsyncSequence, AsyncIteratorProtocol, Sendable {
    let chunk: [UInt8]
    var left: Int

    func makeAsyncIterator() -> Repeated { self }

    mutating func next() async -> [UInt8]? {
        left -= 1
        return left >= 0 ? chunk : nil
    }
}
