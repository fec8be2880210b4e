internal import Interception
internal import MidstreamCore

/// Three connections to Redis: one for commands, one for bodies, behind which no other reply has to wait, and one on which messages come
/// about what other members do.
final class RedisSession: Sendable {
    typealias Dial = @Sendable () async throws -> any ByteChannel

    let commands: RedisConnection
    let bodies: RedisConnection
    let messages: RedisConnection
    /// The names by which Redis knows the scripts.
    private let scripts: [StoreScript: RESPCommand.Word]

    /// Connects, and has everything ready for the first command.
    ///
    /// - Parameters:
    ///   - greeting: What each connection begins with.
    ///   - onMessage: Called with the channel and what came on it; nil for what stands for all keys.
    /// - Throws: ``StoreFailure``; what dialling throws.
    init(
        _ dial: Dial, greeting: [RESPCommand], watching prefixes: [String], news: String,
        onMessage: @escaping @Sendable (_ channel: String, _ content: [String]?) -> Void,
        onEnd: @escaping @Sendable (StoreFailure) -> Void
    ) async throws {
        messages = RedisConnection(try await dial(), onEnd: onEnd) { parts in
            guard parts.count == 3, parts[0].string == "message", let channel = parts[1].string else { return }
            onMessage(channel, parts[2].string.map { [$0] } ?? parts[2].elements?.compactMap(\.string))
        }
        // No reply is waited for before the connections are there, and all has been sent that needs none: a network may take long for each.
        // Channels one by one, since a command has a reply for each. A member that may not hear one would go on with what is gone.
        let subscriptions = ["__redis__:invalidate", news].map { RESPCommand("SUBSCRIBE", .text($0)) }
        let hearing = messages.sending(greeting + [RESPCommand("CLIENT", "ID")] + subscriptions)
        commands = RedisConnection(try await dial(), onEnd: onEnd)
        let all = StoreScript.allCases
        let loading = commands.sending(greeting + all.map { RESPCommand("SCRIPT", "LOAD", .text($0.text)) })
        bodies = RedisConnection(try await dial(), onEnd: onEnd)
        let greeted = bodies.sending(greeting)
        guard let number = try await RedisConnection.values(of: hearing)[greeting.count].number else {
            throw StoreFailure.unreachable("the server doesn't say which connection this is")
        }
        let names = try await RedisConnection.values(of: loading).dropFirst(greeting.count)
        scripts = Dictionary(
            uniqueKeysWithValues: zip(all, names).compactMap { script, name in name.content.map { (script, .bytes($0)) } })
        _ = try await RedisConnection.values(of: greeted)
        // Of this connection's own changes, too: a member may have several near caches.
        let tracking: [RESPCommand.Word] = ["CLIENT", "TRACKING", "ON", "REDIRECT", "\(number)", "BCAST"]
        do {
            _ = try await commands.replies(to: [RESPCommand(tracking + prefixes.flatMap { ["PREFIX", .text($0)] })])
        } catch StoreFailure.refused {
            // A server may not know it: members still hear of removals, and near caches ask again for the rest. Or the other connection is
            // gone, which this finds out.
            _ = try await messages.replies(to: [RESPCommand("PING")])
        }
    }

    /// A script as a command.
    ///
    /// - Parameter isNew: Whether Redis doesn't know it yet.
    func command(_ script: StoreScript, isNew: Bool = false, keys: [String], _ words: [RESPCommand.Word]) -> RESPCommand {
        let name = isNew ? nil : scripts[script]
        let head: [RESPCommand.Word] = [name == nil ? "EVAL" : "EVALSHA", name ?? .text(script.text), "\(keys.count)"]
        return RESPCommand(head + keys.map { .text($0) } + words)
    }

    func connection(_ manner: RedisLink.Manner) -> RedisConnection { manner == .amongBodies ? bodies : commands }

    var isOpen: Bool { commands.isOpen && bodies.isOpen && messages.isOpen }

    func close() {
        commands.close()
        bodies.close()
        messages.close()
    }
}

extension RedisConnection {
    /// Commands that have been sent, with their replies.
    fileprivate typealias Sent = [(command: RESPCommand, reply: Reply?)]

    /// Sends commands together.
    fileprivate func sending(_ commands: [RESPCommand]) -> Sent { commands.map { ($0, send($0)) } }

    /// What was replied to each. Throws why one of them has no reply.
    fileprivate static func values(of sent: Sent) async throws -> [RESPValue] {
        var values: [RESPValue] = []
        for (command, reply) in sent {
            guard let reply, case .value(let answer) = await reply.wait() else { throw CancellationError() }
            // The code alone doesn't lead to the cause.
            if answer == .failure(.refused("ERR")) { throw StoreFailure.refused("ERR \(place(of: command))") }
            values.append(try answer.get())
        }
        return values
    }

    /// The same for commands that are sent only now.
    fileprivate func replies(to commands: [RESPCommand]) async throws -> [RESPValue] {
        try await Self.values(of: sending(commands))
    }

    /// Which of a URL's parts a command is about.
    private static func place(of command: RESPCommand) -> String {
        switch command.words.first {
        case .text("AUTH")?: "at AUTH"
        case .text("SELECT")?: "at SELECT"
        default: "while connecting"
        }
    }
}
