internal import Interception
internal import MidstreamResilience

/// The store that Redis is.
final class RedisStore: FleetStore {
    /// How long a token is kept that nobody refreshes.
    private static let tokenLife = Duration.seconds(90 * 86_400)
    /// Longer than any response is kept that was stored before.
    private static let stampLife = Duration.seconds(8 * 86_400)

    private let link: RedisLink
    private let names: FleetNames

    init(_ link: RedisLink) {
        self.link = link
        names = link.settings.names
    }

    private func run(
        _ script: StoreScript, keys: [String], _ arguments: [[UInt8]], if condition: () -> Bool = { true }
    ) async -> Answer<RESPValue>? {
        let answer = await link.ask({ $0.command(script, keys: keys, arguments) }, if: condition)
        // Somebody has emptied the list of scripts.
        guard answer == .failure(.refused("NOSCRIPT")) else { return answer }
        return await link.ask({ $0.command(script, isNew: true, keys: keys, arguments) }, if: condition)
    }

    private func run(_ script: StoreScript, keys: [String], _ arguments: [[UInt8]]) async -> Answer<RESPValue> {
        await run(script, keys: keys, arguments, if: { true }) ?? .failure(.timedOut)
    }

    private func tell(_ script: StoreScript, keys: [String], _ arguments: [[UInt8]]) {
        link.tell { $0.command(script, keys: keys, arguments) }
    }

    func offerToken(_ record: TokenRecord, as name: String, holder: String, grace: Duration) async -> Answer<TokenRecord> {
        await run(
            .offerToken, keys: [name, names.lock(ofToken: name)],
            [Array(holder.utf8)] + arguments(record, name) + ["\(grace.wholeMilliseconds)"].bytes
        ).read { $0.elements.flatMap(TokenRecord.init) }
    }

    func takeToken(
        _ name: String, insteadOf present: TokenRecord, holder: String, lease: Duration, grace: Duration
    ) async -> Answer<TokenTurn> {
        await run(
            .takeToken, keys: [name, names.lock(ofToken: name)],
            [holder, "\(present.generation)", "\(present.obtained)", lease.milliseconds, "\(grace.wholeMilliseconds)"].bytes
        ).read { reply in
            guard let parts = reply.elements else { return nil }
            let time = parts.dropFirst().first?.number.map { Duration.milliseconds(max(0, $0)) }
            switch parts.first?.string {
            case "mine": return .mine
            case "dead": return .dead
            case "held": return .held(time ?? .zero)
            case "failed": return .failed(time ?? .zero)
            case "other": return TokenRecord(Array(parts.dropFirst())).map { .other($0) }
            default: return nil
            }
        }
    }

    func writeToken(_ record: TokenRecord, as name: String, holder: String) async -> Answer<Bool> {
        await run(.writeToken, keys: [name, names.lock(ofToken: name)], [Array(holder.utf8)] + arguments(record, name))
            .read { $0.number.map { $0 == 1 } }
    }

    func replaceToken(_ record: TokenRecord, as name: String) async -> Answer<TokenRecord> {
        await run(.replaceToken, keys: [name], arguments(record, name)).read { $0.elements.flatMap(TokenRecord.init) }
    }

    func failToken(
        _ name: String, generation: Int64, holder: String, pause: Duration?, isDead: Bool
    ) async -> Answer<Void> {
        await run(
            .failToken, keys: [name, names.lock(ofToken: name)],
            [holder, "\(generation)", pause?.milliseconds ?? "-1", isDead ? "1" : "0", names.news, name].bytes
        ).read { _ in () }
    }

    private func arguments(_ record: TokenRecord, _ name: String) -> [[UInt8]] {
        ["\(record.generation)", "\(record.obtained)"].bytes + [record.token]
            + [Self.tokenLife.milliseconds, names.news, name].bytes
    }

    func reserve(_ name: String, _ rate: QuotaRate, waitingAtMost longest: Duration) async -> Answer<QuotaDecision> {
        await run(.reserve, keys: [name], rate.arguments + [longest.microseconds].bytes).read { reply in
            guard let parts = reply.elements, parts.count == 2, let wait = parts[1].number, wait >= 0 else { return nil }
            return parts[0].number == 1 ? .sends(after: .microseconds(wait)) : .refuses(wait: .microseconds(wait))
        }
    }

    func giveBack(_ name: String, _ rate: QuotaRate) { tell(.giveBack, keys: [name], rate.arguments) }

    func drain(_ name: String, _ rate: QuotaRate, wait: Duration) {
        tell(.drain, keys: [name], rate.arguments + [wait.microseconds].bytes)
    }

    func responses(_ keys: ResponseKeys) async -> Answer<StoredResponses> {
        await run(.responses, keys: [keys.responses] + keys.stamps, []).read { reply in
            guard let parts = reply.elements, parts.count == 2, let stamps = parts[0].elements?.compactMap(\.string),
                let fields = parts[1].elements
            else { return nil }
            return StoredResponses(fields: fields, stamps: stamps)
        }
    }

    func pieces(_ names: [String]) async -> Answer<[[UInt8]?]> {
        switch await link.arrival() {
        case .failure(let failure): return .failure(failure)
        case .success(let session):
            let replies = names.map { session.commands.send(RESPCommand("GET", $0)) }
            var pieces: [[UInt8]?] = []
            for reply in replies {
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
        link.tell { _ in RESPCommand(["SET", name].bytes + [bytes] + ["PX", life.milliseconds].bytes) }
    }

    func keep(_ commit: ResponseCommit, if isCurrent: @escaping @Sendable () -> Bool) async -> Answer<Bool> {
        let response = commit.response
        let arguments =
            [commit.stamps.joined(separator: " "), commit.life.milliseconds, "\(response.id)"].bytes
            + [response.head, response.encodedPieces] + [response.variant].bytes
        guard
            let answer = await run(
                .keepResponse, keys: [commit.keys.responses] + commit.keys.stamps, arguments, if: isCurrent)
        else { return .success(false) }
        return answer.read { $0.number.map { $0 == 1 } }
    }

    func update(_ keys: ResponseKeys, id: UInt64, head: [UInt8], life: Duration) async -> Answer<Bool> {
        await run(
            .updateResponse, keys: [keys.responses] + keys.stamps,
            ["\(id)"].bytes + [head] + [life.milliseconds].bytes
        ).read { $0.number.map { $0 == 1 } }
    }

    func remove(_ stamp: String) async -> Answer<Void> {
        await run(.remove, keys: [stamp], [Self.stampLife.milliseconds].bytes).read { _ in () }
    }
}

extension Answer<RESPValue> {
    /// What a reply stands for; one that is none of ours is a refusal of this command.
    fileprivate func read<Value>(_ read: (RESPValue) -> Value?) -> Answer<Value> {
        flatMap { value in read(value).map { .success($0) } ?? .failure(StoreFailure.refused("a reply that makes no sense")) }
    }
}

extension TokenRecord {
    /// The fields g, o, t and d.
    fileprivate init?(_ fields: [RESPValue]) {
        guard fields.count == 4 else { return nil }
        let generation = fields[0].number ?? 0
        self.init(
            generation: generation, obtained: fields[1].number ?? 0, token: fields[2].content ?? [],
            isDead: fields[3].number == generation)
    }
}

extension StoredResponse {
    /// Offset, length and name of each on a line.
    fileprivate var encodedPieces: [UInt8] {
        Array(pieces.map { "\($0.offset) \($0.length) \($0.name)" }.joined(separator: "\n").utf8)
    }

    fileprivate static func pieces(_ bytes: [UInt8]) -> [Piece]? {
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        let pieces = lines.compactMap { line -> Piece? in
            let parts = line.split(separator: " ")
            guard parts.count == 3, let offset = Int64(parts[0]), let length = Int64(parts[1]), offset >= 0,
                1...Int64(RESPReader.longestBulk) ~= length
            else { return nil }
            return Piece(offset: offset, length: length, name: String(parts[2]))
        }
        return pieces.count == lines.count ? pieces : nil
    }
}

extension StoredResponses {
    /// Names and values of a hash, in any order: h, p, o and v with the id of a response are its head, its pieces, when it was stored
    /// and its variant.
    fileprivate init(fields: [RESPValue], stamps: [String]) {
        var values: [String: [UInt8]] = [:]
        for place in stride(from: 0, to: fields.count - 1, by: 2) {
            if let name = fields[place].string, let value = fields[place + 1].content { values[name] = value }
        }
        let found = values.compactMap { name, head -> (StoredResponse, order: Int64)? in
            guard name.hasPrefix("h"), let id = UInt64(name.dropFirst()), let list = values["p\(id)"],
                let pieces = StoredResponse.pieces(list), let order = values["o\(id)"].flatMap({ RESPValue.bytes($0).number })
            else { return nil }
            return (
                StoredResponse(
                    id: id, variant: values["v\(id)"].map { String(decoding: $0, as: UTF8.self) } ?? "", head: head,
                    pieces: pieces), order
            )
        }
        self.init(all: found.sorted { $0.order > $1.order }.map(\.0), stamps: stamps)
    }
}

extension QuotaRate {
    fileprivate var arguments: [[UInt8]] { ["\(interval)", "\(burst)"].bytes }
}

extension Duration {
    fileprivate var milliseconds: String { "\(max(1, wholeMilliseconds))" }
    fileprivate var microseconds: String { "\(Int64(max(0, self / .microseconds(1))))" }
}
