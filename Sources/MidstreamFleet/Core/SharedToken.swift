internal import Foundation
internal import Interception
internal import MidstreamAuthentication
internal import MidstreamCore

/// A token that the members share, as one of them knows it.
final class SharedToken: Sendable {
    /// A token in the order of all.
    struct Held: Sendable {
        var token: OAuthToken?
        var record: TokenRecord
        /// The name of the wish to begin or end this login, of which the store may not have heard yet.
        var wish: String?

        static let none = Held(token: nil, record: .none)

        /// Whether it takes the place of what the store has. A login does that, however little this member knew before.
        func isNewer(than there: TokenRecord) -> Bool { wish != nil || record.isNewer(than: there) }
        func isOlder(than there: TokenRecord) -> Bool { wish == nil && there.isNewer(than: record) }
    }

    let name: String
    private let core: FleetCore
    private let held = Locked(Held.none)
    /// Hashes of the tokens that were held lately.
    private let former = Locked<[Int]>([])
    /// Whether it is being put back, or waits for that.
    private let isOffering = Locked(false)
    static let offerPause = Duration.milliseconds(100)

    init(_ core: FleetCore, _ name: String) {
        self.core = core
        self.name = core.names.token(name)
    }

    deinit { core.forget(ObjectIdentifier(self), name) }

    var present: Held { held.withLock { $0 } }

    /// The one that a credential is; what isn't known is older than all that the fleet has.
    func held(for token: OAuthToken?) -> Held {
        held.withLock { held in
            if let token, held.token == nil, held.record.generation == 0 {
                // Processes may be started with the same token at any time.
                replace(&held, by: Held(token: token, record: TokenRecord(generation: 1, obtained: 0, token: [])))
            }
            return held
        }
    }

    /// Whether a token is one that was held lately.
    func hasHeld(_ token: OAuthToken) -> Bool { former.withLock { $0.contains(token.hashValue) } }

    private func replace(_ held: inout Held, by next: Held) {
        if let token = held.token { former.withLock { $0 = $0.suffix(31) + [token.hashValue] } }
        held = next
    }

    /// Takes a token of the store; nil when it can't be opened. One that a former key has sealed is put there anew, so that members can do
    /// without that key.
    ///
    /// - Parameter grace: How long nobody may refresh it then: members may know a newer one, and putting it ends such a time.
    func adopt(_ record: TokenRecord, grace: Duration) -> Held? {
        var token: OAuthToken?
        if !record.token.isEmpty {
            guard let bytes = core.key.open(record.token, of: name),
                let opened = try? JSONDecoder().decode(OAuthToken.self, from: Data(bytes))
            else { return nil }
            token = opened
        }
        let anew = token.flatMap { resealed(record, $0) }
        let adopted = adopt(token, anew ?? record)
        if anew != nil { offerInBackground(holder: "", grace: grace) }
        return adopted
    }

    /// Takes a token of the store that has been opened; nil: one that can't be, where another one costs nothing, or none.
    @discardableResult
    func adopt(_ token: OAuthToken?, _ record: TokenRecord) -> Held {
        held.withLock { held in
            if held.isOlder(than: record) { replace(&held, by: Held(token: token, record: record)) }
            return held
        }
    }

    /// The same token as one that is later, if the key that seals now hasn't sealed it. Only of the first one that this member finds: a
    /// member whose keys are in the other order does the same, and neither would come to an end.
    private func resealed(_ record: TokenRecord, _ token: OAuthToken) -> TokenRecord? {
        guard present.record.token.isEmpty, !record.isDead, !core.key.hasSealed(record.token, for: name),
            let bytes = try? sealed(token)
        else { return nil }
        var record = record
        record.obtained += 1
        record.token = bytes
        return record
    }

    /// Takes a token that this member has obtained in place of another.
    func advance(to token: OAuthToken, from old: TokenRecord) throws -> TokenRecord {
        let record = TokenRecord(
            login: old.login, generation: old.generation + 1, obtained: token.milliseconds, token: try sealed(token))
        held.withLock { held in
            if record.isNewer(than: held.record) { replace(&held, by: Held(token: token, record: record, wish: held.wish)) }
        }
        return record
    }

    /// Begins a login, or ends it.
    func replace(with token: OAuthToken?) async throws {
        let old = present.record
        let record = TokenRecord(
            login: old.login + 1, generation: old.generation + 1,
            obtained: token?.milliseconds ?? Int64(Date().timeIntervalSince1970 * 1000), token: try token.map(sealed) ?? [])
        held.withLock { replace(&$0, by: Held(token: token, record: record, wish: core.newHolder())) }
        if await offer() == nil { offerInBackground(holder: "") }
    }

    /// Puts the token into the store if that has an older one, or hasn't heard of its login.
    ///
    /// - Returns: What the store has; nil when it didn't answer.
    func offer(holder: String = "", grace: Duration = .zero) async -> TokenRecord? {
        await offer(to: core.store, holder, grace)
    }

    private func offer(to store: any FleetStore, _ holder: String, _ grace: Duration) async -> TokenRecord? {
        var held = present
        if held.record.token.isEmpty, let token = held.token, let bytes = try? sealed(token) { held.record.token = bytes }
        if let wish = held.wish { return await begin(held.record, by: wish, in: store) }
        return try? await store.offerToken(held.record, as: name, holder: holder, grace: grace).get()
    }

    /// Begins or ends a login in the store, unless the same wish has done so before.
    private func begin(_ record: TokenRecord, by wish: String, in store: any FleetStore) async -> TokenRecord? {
        guard let begun = try? await store.replaceToken(record, as: name, wish: wish).get() else { return nil }
        held.withLock { held in
            // There may have been another login, or a refresh of this one, here or by another member.
            guard held.wish == wish else { return }
            held.wish = nil
            held.record.login = begun.login
            if held.record.token == begun.there.token { held.record = begun.there }
        }
        return begun.there
    }

    /// Puts the token into the store as soon as that answers.
    ///
    /// - Parameter isAwaited: Whether another member waits for it, which has it go next, wherever it is in the line.
    func offerInBackground(holder: String, grace: Duration = .zero, isAwaited: Bool = false) {
        let isFirst = isOffering.withLock { isOffering in
            defer { isOffering = true }
            return !isOffering
        }
        guard isFirst || isAwaited else { return }
        // It is held only while something is to be done.
        core.putBack { [weak self] in await self?.isOffered(holder, grace) ?? true }
    }

    /// Whether the store has nothing older, or will never be asked again.
    private func isOffered(_ holder: String, _ grace: Duration) async -> Bool {
        let there = await offer(to: core.patientStore, holder, grace)
        return isOffering.withLock { isOffering in
            // One that has come since then is offered again, too.
            isOffering = core.isOpen && there.map { present.isNewer(than: $0) } ?? true
            return !isOffering
        }
    }

    /// Gives back the lock in the background, until the store has answered or the lock has expired by itself.
    ///
    /// - Parameter pause: How long nobody should try, at least; nil: it wasn't tried.
    func release(
        mayHoldAs holder: String, of record: TokenRecord, pause: Duration? = nil, isDead: Bool = false, for lease: Duration
    ) {
        let end = core.stopwatch.elapsed + lease
        _ = CallersExecutor().startDetached { [weak core, name, timer = core.timer, stopwatch = core.stopwatch] in
            while stopwatch.elapsed < end, core?.isOpen == true, let store = core?.store {
                let answer = await store.failToken(name, of: record, holder: holder, pause: pause, isDead: isDead)
                if case .success = answer { return }
                try? await timer.sleep(for: Self.offerPause)
            }
        }
    }

    private func sealed(_ token: OAuthToken) throws -> [UInt8] {
        try core.key.seal(Array(JSONEncoder().encode(token)), for: name)
    }
}

extension OAuthToken {
    /// When it was obtained, in milliseconds since 1970.
    fileprivate var milliseconds: Int64 { Int64(min(max(0, obtained.timeIntervalSince1970 * 1000), 1e15)) }
}
