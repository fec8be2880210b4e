internal import Interception
internal import MidstreamCore
internal import MidstreamResilience

final class RedisStore: FleetStore {
    private typealias Word = RESPCommand.Word

    /// How long a token is kept that nobody refreshes.
    private static let tokenLife = Duration.seconds(90 * 86_400)
    /// How long a removal's stamp is kept. Without it nothing is valid either, and what is kept later prolongs it.
    static let stampLife = Duration.seconds(60)

    /// Of one key. Each lookup reads them all.
    private static let maximumVariants = 32

    private let link: RedisLink
    private let names: FleetNames
    private let manner: RedisLink.Manner

    /// - Parameter manner: That of all commands but those about bodies.
    init(_ link: RedisLink, _ manner: RedisLink.Manner = .urgent) {
        self.link = link
        self.manner = manner
        names = link.settings.names
    }

    /// Runs a script, and reads its reply; one that is none of ours is a refusal of this command.
    ///
    /// - Parameters:
    ///   - manner: Nil: that of the store.
    ///   - unsent: The answer when the condition doesn't hold.
    private func run<Value>(
        _ script: StoreScript, keys: [String], _ words: [Word], as manner: RedisLink.Manner? = nil,
        if condition: () -> Bool = { true }, otherwise unsent: Answer<Value> = .failure(.timedOut),
        _ read: (RESPValue) -> Value?
    ) async -> Answer<Value> {
        let manner = manner ?? self.manner
        var answer = await link.ask({ $0.command(script, keys: keys, words) }, manner, if: condition)
        if answer == .failure(.refused("NOSCRIPT")) {
            // Somebody has emptied the list of scripts.
            answer = await link.ask({ $0.command(script, isNew: true, keys: keys, words) }, manner, if: condition)
        }
        return answer?.flatMap { value in
            read(value).map { .success($0) } ?? .failure(StoreFailure.refused("a reply that makes no sense"))
        } ?? unsent
    }

    private func onToken<Value>(
        _ script: StoreScript, _ name: String, _ words: [Word], as manner: RedisLink.Manner? = nil, _ read: (RESPValue) -> Value?
    ) async -> Answer<Value> {
        await run(script, keys: [name, names.lock(ofToken: name)], words, as: manner, read)
    }

    func offerToken(_ record: TokenRecord, as name: String, holder: String, grace: Duration) async -> Answer<TokenRecord> {
        await onToken(
            .offerToken, name, [.text(holder)] + words(record, name) + ["\(grace.wholeMilliseconds)"], TokenRecord.init(reply:))
    }

    func takeToken(
        _ name: String, insteadOf present: TokenRecord, holder: String, lease: Duration, grace: Duration
    ) async -> Answer<TokenTurn> {
        let words: [Word] = [
            .text(holder), "\(present.login)", "\(present.generation)", "\(present.obtained)", lease.milliseconds,
            "\(grace.wholeMilliseconds)", .text(names.news),
        ]
        return await onToken(.takeToken, name, words, as: .decisive) { reply in
            guard let parts = reply.elements else { return nil }
            let time = Duration.milliseconds(max(0, parts.dropFirst().first?.number ?? 0))
            switch parts.first?.string {
            case "mine": return .mine
            case "dead": return .dead
            case "held": return .held(time, afterLoss: false)
            case "lost": return .held(time, afterLoss: true)
            case "failed": return .failed(time)
            case "other": return TokenRecord(reply: .array(Array(parts.dropFirst()))).map { .other($0) }
            default: return nil
            }
        }
    }

    func writeToken(_ record: TokenRecord, as name: String, holder: String) async -> Answer<Bool> {
        await onToken(.writeToken, name, [.text(holder)] + words(record, name), \.isDone)
    }

    func replaceToken(_ record: TokenRecord, as name: String, wish: String) async -> Answer<BegunLogin> {
        await onToken(.replaceToken, name, [.text(wish)] + words(record, name)) { reply in
            guard let parts = reply.elements, parts.count == 2, let login = parts[0].number,
                let there = TokenRecord(reply: parts[1]), 0...there.login ~= login
            else { return nil }
            return BegunLogin(login: login, there: there)
        }
    }

    func failToken(
        _ name: String, of record: TokenRecord, holder: String, pause: Duration?, isDead: Bool
    ) async -> Answer<Void> {
        let words: [Word] = [
            .text(holder), "\(record.login)", "\(record.generation)", pause?.milliseconds ?? "-1", isDead ? "1" : "0",
            .text(names.news), .text(name),
        ]
        return await onToken(.failToken, name, words) { _ in () }
    }

    private func words(_ record: TokenRecord, _ name: String) -> [Word] {
        [
            "\(record.login)", "\(record.generation)", "\(record.obtained)", .bytes(record.token), Self.tokenLife.milliseconds,
            .text(names.news), .text(name),
        ]
    }

    func reserve(_ name: String, _ rate: QuotaRate, waitingAtMost longest: Duration) async -> Answer<QuotaDecision> {
        await run(.reserve, keys: [name], rate.words + [longest.microseconds]) { reply in
            guard let parts = reply.elements, parts.count == 2, let wait = parts[1].number, wait >= 0 else { return nil }
            return parts[0].isDone == true ? .sends(after: .microseconds(wait)) : .refuses(wait: .microseconds(wait))
        }
    }

    func giveBack(_ name: String, _ rate: QuotaRate) { link.tell { $0.command(.giveBack, keys: [name], rate.words) } }

    func drain(_ name: String, _ rate: QuotaRate, wait: Duration) {
        link.tell { $0.command(.drain, keys: [name], rate.words + [wait.microseconds]) }
    }

    func responses(_ keys: ResponseKeys, toKeep life: Duration?) async -> Answer<StoredResponses> {
        await run(.responses, keys: keys.all, life.map { [$0.milliseconds] } ?? []) { reply in
            guard let parts = reply.elements, parts.count == 3, let stamps = parts[0].elements?.compactMap(\.string),
                let fields = parts[1].elements, let begun = parts[2].number, begun >= 0
            else { return nil }
            return StoredResponses(fields: fields, stamps: stamps, begun: begun)
        }
    }

    func pieces(_ names: [String]) async -> Answer<[[UInt8]?]> {
        switch await link.arrival(.amongBodies) {
        case .failure(let failure): return .failure(failure)
        case .success(let session):
            var pieces: [[UInt8]?] = []
            for reply in names.map({ session.bodies.send(RESPCommand("GET", .text($0))) }) {
                // Each has its time: a slow network isn't a store that doesn't answer.
                guard let reply else { return .failure(.timedOut) }
                switch await link.answer(reply, within: link.settings.patience) {
                case .success(let value): pieces.append(value.content)
                case .failure(let failure): return .failure(failure)
                }
            }
            return .success(pieces)
        }
    }

    func keepPiece(_ bytes: [UInt8], as name: String, life: Duration) {
        link.tell(.amongBodies) { _ in RESPCommand("SET", .text(name), .bytes(bytes), "PX", life.milliseconds) }
    }

    func keep(_ commit: ResponseCommit, if isCurrent: @escaping @Sendable () -> Bool) async -> Answer<Bool> {
        let response = commit.response
        let words: [Word] = [
            .text(commit.stamps.joined(separator: " ")), commit.life.milliseconds, "\(response.id)", .bytes(response.head),
            .text(response.encodedPieces), .text(response.variant), "\(Self.maximumVariants)",
            "\(commit.isWhole ? commit.begun : -commit.begun)",
        ]
        // Behind its pieces. A removal that overtakes it, on the other connection, has changed the stamps.
        return await run(
            .keepResponse, keys: commit.keys.all, words, as: .amongBodies, if: isCurrent, otherwise: .success(false),
            \.isDone)
    }

    func update(_ keys: ResponseKeys, id: UInt64, head: [UInt8], life: Duration, isConfirmed: Bool) async -> Answer<Bool> {
        let words: [Word] = ["\(id)", .bytes(head), life.milliseconds, isConfirmed ? "1" : "0"]
        return await run(.updateResponse, keys: keys.all, words, \.isDone)
    }

    func remove(_ stamps: [String]) async -> Answer<Void> {
        await run(.remove, keys: stamps, [Self.stampLife.milliseconds, .text(names.news)]) { _ in () }
    }
}

extension RESPValue {
    fileprivate var isDone: Bool? { number.map { $0 == 1 } }
}

extension ResponseKeys {
    fileprivate var all: [String] { [responses] + stamps }
}

extension TokenRecord {
    /// The fields g, o, t, d and l. Others may have written them; numbers are at most what a script can count to.
    init?(reply: RESPValue) {
        guard let fields = reply.elements, fields.count == 5 else { return nil }
        let (generation, obtained, login) = (fields[0].number ?? 0, fields[1].number ?? 0, fields[4].number ?? 0)
        guard [generation, obtained, login].allSatisfy({ 0..<(1 << 53) ~= $0 }) else { return nil }
        self.init(
            login: login, generation: generation, obtained: obtained, token: fields[2].content ?? [],
            isDead: fields[3].number == generation)
    }
}

extension StoredResponse {
    /// Offset, length and name of each on a line.
    fileprivate var encodedPieces: String {
        pieces.map { "\($0.offset) \($0.length) \($0.name)" }.joined(separator: "\n")
    }

    fileprivate static func pieces(_ text: String) -> [Piece]? {
        let lines = text.split(separator: "\n")
        let pieces = lines.compactMap { line -> Piece? in
            let parts = line.split(separator: " ")
            guard parts.count == 3, let offset = Int64(parts[0]), let length = Int64(parts[1]),
                0...Int64(StoredResponse.longestBody) ~= offset, 1...Int64(RESPReader.longestBulk) ~= length
            else { return nil }
            return Piece(offset: offset, length: length, name: String(parts[2]))
        }
        return pieces.count == lines.count ? pieces : nil
    }
}

extension StoredResponses {
    /// Names and values of a hash, in any order: h, p, o and v with the id of a response are its head, its pieces, when it was stored
    /// and its variant. When it began to come (r), and whether it was confirmed at its last update (c), matter to scripts alone.
    fileprivate init(fields: [RESPValue], stamps: [String], begun: Int64) {
        var values: [String: RESPValue] = [:]
        for place in stride(from: 0, to: fields.count - 1, by: 2) {
            if let name = fields[place].string { values[name] = fields[place + 1] }
        }
        let found = values.compactMap { name, head -> (StoredResponse, order: Int64)? in
            guard name.hasPrefix("h"), let id = UInt64(name.dropFirst()), let head = head.content,
                let pieces = values["p\(id)"]?.string.flatMap(StoredResponse.pieces), let order = values["o\(id)"]?.number
            else { return nil }
            return (StoredResponse(id: id, variant: values["v\(id)"]?.string ?? "", head: head, pieces: pieces), order)
        }
        self.init(all: found.sorted { $0.order > $1.order }.map(\.0), stamps: stamps, begun: begun)
    }
}

extension QuotaRate {
    fileprivate var words: [RESPCommand.Word] { ["\(interval)", "\(burst)"] }
}

extension Duration {
    fileprivate var milliseconds: RESPCommand.Word { "\(max(1, wholeMilliseconds))" }
    fileprivate var microseconds: RESPCommand.Word { "\(max(0, wholeNanoseconds) / 1_000)" }
}
