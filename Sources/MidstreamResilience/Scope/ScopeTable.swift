internal import Interception
internal import MidstreamCore

/// What is known about one key.
protocol ScopeState: AnyObject, Sendable {
    /// Whether forgetting it loses nothing that isn't soon measured again.
    func isIdle(at now: Int64) -> Bool
}

/// The state of each key of a scope.
///
/// Of keys beyond the maximum those are forgotten that are idle and weren't used since they were last looked at (CLOCK, also known as
/// second chance): using a key sets a mark, and nothing is moved.
final class ScopeTable<State: ScopeState>: Sendable {
    /// - Invariant: `@unchecked Sendable` is sound because the mark is only touched while the lock of the table is held.
    private final class Entry: @unchecked Sendable {
        let key: String
        let state: State
        var isUsed = false

        init(_ key: String, _ state: State) { (self.key, self.state) = (key, state) }
    }

    private struct Contents {
        var entries: [String: Entry] = [:]
        /// All entries, and the place from which on the next one to forget is looked for.
        var ring: [Entry] = []
        var hand = 0
        /// Those looked up last, the latest first.
        var recent: [Entry] = []

        /// Compares bytes of the URL, without an allocation.
        func recent(for request: HTTPRequest) -> Entry? {
            for entry in recent
            where entry.key.utf8.withContiguousStorageIfAvailable({ request.isSent(to: $0) }) == true { return entry }
            return nil
        }

        /// The new entry takes the place of the one that is forgotten. Looks at a few others at most, so that the cost is bounded.
        mutating func add(_ entry: Entry, maximum: Int, at now: Int64) {
            entries[entry.key] = entry
            ring.append(entry)
            for _ in 0..<16 where ring.count > maximum {
                if hand >= ring.count { hand = 0 }
                let candidate = ring[hand]
                if candidate === entry || candidate.isUsed || !candidate.state.isIdle(at: now) {
                    candidate.isUsed = false
                } else {
                    entries[candidate.key] = nil
                    recent.removeAll { $0 === candidate }
                    let last = ring.removeLast()
                    if hand < ring.count { ring[hand] = last }
                }
                hand += 1
            }
        }

        mutating func moveToFront(_ entry: Entry) {
            recent.removeAll { $0 === entry }
            recent.insert(entry, at: 0)
            if recent.count > 4 { recent.removeLast() }
        }
    }

    /// That of the states.
    let time = Timekeeper()
    private let scope: ResilienceScope
    private let make: @Sendable (String) -> State
    private let single: State?
    private let contents = Locked(Contents())

    init(_ scope: ResilienceScope, make: @escaping @Sendable (String) -> State) {
        self.scope = scope
        self.make = make
        if case .client = scope.kind { single = make("all requests") } else { single = nil }
    }

    /// That of a request, made if there is none.
    func state(for request: HTTPRequest, _ next: Next<HTTPRequest, HTTPResponse>) -> State {
        known(for: request) ?? state(of: key(of: request), at: time.now(next))
    }

    /// That of a request, made if there is none.
    func state(for request: HTTPRequest, at now: Int64) -> State { known(for: request) ?? state(of: key(of: request), at: now) }

    /// That of a key, made if there is none.
    func state(of key: String, at now: Int64) -> State {
        if let single { return single }
        return contents.withLock { contents in
            let entry: Entry
            if let known = contents.entries[key] {
                entry = known
                entry.isUsed = true
            } else {
                entry = Entry(key, make(key))
                contents.add(entry, maximum: scope.maximumKeys, at: now)
            }
            contents.moveToFront(entry)
            return entry.state
        }
    }

    /// That of a request, for its plan: if there is none, one that isn't kept.
    func peek(for request: HTTPRequest) -> State {
        let key = key(of: request)
        return known(key) ?? make(key)
    }

    /// That of a key; nil if there is none.
    func known(_ key: String) -> State? { single ?? contents.withLock { $0.entries[key]?.state } }

    /// Those that are known, in the order of their keys.
    var all: [(key: String, state: State)] {
        if let single { return [("all requests", single)] }
        return contents.withLock { $0.ring.map { ($0.key, $0.state) } }.sorted { $0.0 < $1.0 }
    }

    private func known(for request: HTTPRequest) -> State? {
        if let single { return single }
        guard case .origin = scope.kind else { return nil }
        return contents.withLock { contents in
            guard let entry = contents.recent(for: request) else { return nil }
            entry.isUsed = true
            return entry.state
        }
    }

    private func key(of request: HTTPRequest) -> String {
        if case .key(let key) = scope.kind { return key(request) }
        return HTTPOrigin(request.urlText)?.description ?? ""
    }
}
