import LoopbackServer
import MidstreamCore
import TestSupport
import Testing

@testable import MidstreamTesting

/// The connections on which a test's side of a socket writes.
@Suite(.leavesNothing, .timeLimit(.minutes(10))) struct SocketChannelTests {
    /// A server's side of a connection, and its client; the server lets go of its own when this is released.
    private final class Connected {
        let socket: Socket
        let client: RawClient
        private let listener: Listener
        private let isOver: AsyncOutcome<Void>

        init() async throws {
            let (sockets, source) = AsyncStream.makeStream(of: Socket.self)
            let isOver = AsyncOutcome<Void>()
            self.isOver = isOver
            listener = try Listener(port: 0)
            try listener.start { socket, _ in
                source.yield(socket)
                try? isOver.wait(unless: { false })
            }
            client = try RawClient(port: listener.port)
            socket = try #require(await sockets.first { _ in true })
        }

        deinit {
            isOver.finish(.success(()))
            try? listener.stop()
        }
    }

    /// An actor that writes byte by byte.
    private actor Writer {
        nonisolated let jobs = CountedJobs()
        nonisolated var unownedExecutor: UnownedSerialExecutor { jobs.asUnownedSerialExecutor() }

        func write(_ count: Int, to channel: any ByteChannel) async throws {
            for _ in 0..<count { try await channel.write([1]) }
        }
    }

    /// So that messages leave in the order in which their actor has compressed them, though several tasks send.
    @Test func `A write has its place before another task can enter the actor that writes`() async throws {
        let (near, far) = MemoryChannel.pair()
        let connected = try await Connected()
        for channel in [near, SocketChannel(connected.socket)] as [any ByteChannel] {
            let writer = Writer()
            try await writer.write(100, to: channel)
            #expect(writer.jobs.count < 50)
        }
        #expect(try await far.read()?.count == 100)
        #expect(await connected.client.read(atLeast: 100).count == 100)
    }

    /// It may be compressed, and what is written after it refer to it.
    @Test func `A write leaves also when its task is cancelled`() async throws {
        let connected = try await Connected()
        let channel = SocketChannel(connected.socket)
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await channel.write([1])
        }
        try await cancelled.value
        #expect(await connected.client.read(atLeast: 1) == [1])
    }

    /// What it would send of the rest might go to another connection, which has its descriptor by then.
    @Test func `Closing a connection breaks off what another thread sends over it`() async throws {
        let connected = try await Connected()
        let (socket, client) = (connected.socket, connected.client)
        let bytes = [UInt8](repeating: 0, count: 64 << 20)
        let sending = Task {
            try await withCheckedThrowingContinuation { (sender: CheckedContinuation<Void, any Error>) in
                let isStarted = ServerThread.start {
                    sender.resume(with: Result { try bytes.withUnsafeBytes { try socket.send($0) } })
                }
                if !isStarted { sender.resume(throwing: ConnectionEnded()) }
            }
        }
        let first = await client.read(atLeast: 1).count
        socket.close()
        let rest = await client.read(atLeast: .max).count
        #expect(first > 0 && first + rest < bytes.count)
        await #expect(throws: ConnectionEnded.self) { try await sending.value }
        await #expect(throws: ConnectionEnded.self) { try await SocketChannel(socket).write([1]) }
        withExtendedLifetime(connected) {}
    }

    /// The system counts milliseconds in 32 bits, and no integer has room for all that a deadline may be away.
    @Test func `What comes ends a wait, however far its deadline is`() async throws {
        let connected = try await Connected()
        connected.client.send("x")
        var byte: UInt8 = 0
        let deadline = ContinuousClock.now + .seconds(Int64.max / 4)
        let count = try withUnsafeMutableBytes(of: &byte) { try connected.socket.receive(into: $0, until: deadline) }
        #expect(count == 1 && byte == UInt8(ascii: "x"))
        withExtendedLifetime(connected) {}
    }

    #if os(Linux)
        /// A script that doesn't read would never be cancelled.
        @Test func `A peer that has left is seen to have, though what it sent is unread`() async throws {
            let connected = try await Connected()
            let (socket, client) = (connected.socket, connected.client)
            client.send("unread")
            #expect(!socket.isOver)
            client.leave()
            await eventually { socket.isOver }
            withExtendedLifetime(connected) {}
        }
    #endif
}
