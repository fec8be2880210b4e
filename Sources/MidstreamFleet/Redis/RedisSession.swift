internal import Interception
internal import MidstreamCore

/// Two connections to Redis: one for commands, and one on which messages come about what other members do.
final class RedisSession: Sendable {
    typealias Dial = @Sendable () async throws -> any ByteChannel

    let commands: RedisConnection
    private let messages: RedisConnection
    /// The names by which Redis knows the scripts.
    private let scripts: [StoreScript: [UInt8]]

    private init(commands: RedisConnection, messages: RedisConnection, scripts: [StoreScript: [UInt8]]) {
        self.commands = commands
        self.messages = messages
        self.scripts = scripts
    }

    /// Connects, and has everything ready for the first command.
    ///
    /// - Parameters:
    ///   - greeting: What each connection begins with.
    ///   - onMessage: Called with the channel and what came on it; nil for what stands for all keys.
    /// - Throws: ``StoreFailure``; what dialling throws.
    static func begin(
        _ dial: Dial, greeting: [RESPCommand], watching prefixes: [String], news: String,
        onMessage: @escaping @Sendable (_ channel: String, _ content: [String]?) -> Void,
        onEnd: @escaping @Sendable (StoreFailure) -> Void
    ) async throws -> RedisSession {
        let messages = RedisConnection(try await dial()) { parts in
            guard parts.count == 3, parts[0].string == "message", let channel = parts[1].string else { return }
            onMessage(channel, parts[2].string.map { [$0] } ?? parts[2].elements?.compactMap(\.string))
        } onEnd: {
            onEnd($0)
        }
        messages.start()
        try await greet(messages, greeting)
        guard let number = try await reply(messages, RESPCommand("CLIENT", "ID")).number else {
            throw StoreFailure.unreachable("the server doesn't say which connection this is")
        }
        // Its reply comes as a message.
        _ = messages.send(RESPCommand("SUBSCRIBE", "__redis__:invalidate", news))
        let commands = RedisConnection(try await dial(), onEnd: onEnd)
        commands.start()
        try await greet(commands, greeting)
        let tracking = ["CLIENT", "TRACKING", "ON", "REDIRECT", "\(number)", "BCAST", "NOLOOP"]
        _ = try await reply(commands, RESPCommand((tracking + prefixes.flatMap { ["PREFIX", $0] }).bytes))
        var scripts: [StoreScript: [UInt8]] = [:]
        let replies = StoreScript.allCases.map { ($0, commands.send(RESPCommand("SCRIPT", "LOAD", $0.text))) }
        for (script, reply) in replies {
            guard let name = try await Self.value(of: reply).content else {
                throw StoreFailure.unreachable("the server takes no scripts")
            }
            scripts[script] = name
        }
        return RedisSession(commands: commands, messages: messages, scripts: scripts)
    }

    /// A script as a command.
    ///
    /// - Parameter isNew: Whether Redis doesn't know it yet.
    func command(_ script: StoreScript, isNew: Bool = false, keys: [String], _ arguments: [[UInt8]]) -> RESPCommand {
        let name = isNew ? nil : scripts[script]
        let head = name.map { [Array("EVALSHA".utf8), $0] } ?? ["EVAL", script.text].bytes
        return RESPCommand(head + ["\(keys.count)"].bytes + keys.bytes + arguments)
    }

    func close() {
        commands.close()
        messages.close()
    }

    private static func greet(_ connection: RedisConnection, _ greeting: [RESPCommand]) async throws {
        for reply in greeting.map({ connection.send($0) }) { _ = try await value(of: reply) }
    }

    private static func reply(_ connection: RedisConnection, _ command: RESPCommand) async throws -> RESPValue {
        try await value(of: connection.send(command))
    }

    private static func value(of reply: RedisConnection.Reply?) async throws -> RESPValue {
        guard let reply, case .value(let answer) = await reply.wait() else { throw CancellationError() }
        return try answer.get()
    }
}
