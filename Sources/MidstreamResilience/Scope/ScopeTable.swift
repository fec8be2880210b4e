internal import Interception
internal import MidstreamCore

/// What is known about one key.
protocol ScopeState: AnyObject, Sendable {
    /// Whether nothing is lost when it is forgotten, but what is soon found out again.
    func isIdle(at now: Int64) -> Bool
}

/// What is known about each key of a scope.
///
/// The keys used last are found by comparing bytes, so that an exchange costs no allocation.
final class ScopeTable<State: ScopeState>: Sendable {
    /// A key in the order of their use. Places are numbers, since references would be counted at each change of the order.
    private struct Entry {
        let key: String
        let state: State
        var newer = none
        var older = none
    }

    private struct Recent {
        let key: String
        /// Of the key.
        let bytes: ContiguousArray<UInt8>
        let place: Int
        let state: State
    }

    private struct Contents {
        var places: [String: Int] = [:]
        var entries: [Entry] = []
        /// Places that are free again.
        var free: [Int] = []
        var newest = none
        var oldest = none
        /// The first is the one looked up last.
        var recent: [Recent] = []

        func state(for request: HTTPRequest) -> State? {
            for place in recent.indices where recent[place].bytes.withUnsafeBufferPointer({ request.isSent(to: $0) }) {
                return recent[place].state
            }
            return nil
        }

        mutating func add(_ key: String, _ state: State) -> Int {
            let entry = Entry(key: key, state: state)
            let place = free.popLast() ?? entries.count
            if place < entries.count { entries[place] = entry } else { entries.append(entry) }
            places[key] = place
            link(place)
            return place
        }

        /// Puts an entry to the end that is forgotten last.
        mutating func use(_ place: Int) {
            guard place != newest else { return }
            unlink(place)
            link(place)
        }

        /// Forgets the oldest entries that are idle until there is room, or a few were looked at: what isn't idle is looked at again last.
        mutating func makeRoom(for maximum: Int, at now: Int64) {
            for used in recent.reversed() { use(used.place) }
            for _ in 0..<16 where places.count >= maximum {
                let place = oldest
                guard entries[place].state.isIdle(at: now) else {
                    use(place)
                    continue
                }
                unlink(place)
                places[entries[place].key] = nil
                recent.removeAll { $0.place == place }
                free.append(place)
            }
        }

        private mutating func link(_ place: Int) {
            (entries[place].newer, entries[place].older) = (none, newest)
            if newest == none { oldest = place } else { entries[newest].newer = place }
            newest = place
        }

        private mutating func unlink(_ place: Int) {
            let (newer, older) = (entries[place].newer, entries[place].older)
            if newer == none { newest = older } else { entries[newer].older = older }
            if older == none { oldest = newer } else { entries[older].newer = newer }
        }
    }

    private let scope: ResilienceScope
    private let make: @Sendable (String) -> State
    private let single: State?
    private let contents = Locked(Contents())

    init(_ scope: ResilienceScope, make: @escaping @Sendable (String) -> State) {
        self.scope = scope
        self.make = make
        if case .client = scope.kind { single = make("all requests") } else { single = nil }
    }

    /// Whether a closure tells the key.
    var asksSomebody: Bool { scope.asksSomebody }

    /// Whether all requests are of one key.
    var isSingle: Bool { single != nil }

    /// That of a request, made if there is none.
    ///
    /// - Parameter now: Looked at when others have to make room for it.
    func state(for request: HTTPRequest, at now: () -> Int64) -> State {
        if let single { return single }
        if case .key(let key) = scope.kind { return state(of: key(request), at: now) }
        if let found = contents.withLock({ $0.state(for: request) }) { return found }
        return state(of: HTTPOrigin(request.urlText)?.description ?? "", at: now)
    }

    /// That of a key, made if there is none.
    func state(of key: String, at now: () -> Int64) -> State {
        if let single { return single }
        return contents.withLock { contents in
            if let first = contents.recent.first, first.key == key { return first.state }
            let place: Int
            if let known = contents.places[key] {
                place = known
                contents.use(place)
            } else {
                if contents.places.count >= scope.maximumKeys { contents.makeRoom(for: scope.maximumKeys, at: now()) }
                place = contents.add(key, make(key))
            }
            let state = contents.entries[place].state
            contents.recent.removeAll { $0.place == place }
            contents.recent.insert(Recent(key: key, bytes: ContiguousArray(key.utf8), place: place, state: state), at: 0)
            if contents.recent.count > 4 { contents.recent.removeLast() }
            return state
        }
    }

    /// Those that are known, by their keys.
    var all: [(key: String, state: State)] {
        if let single { return [("all requests", single)] }
        return contents.withLock { contents in contents.places.map { ($0, contents.entries[$1].state) } }.sorted { $0.0 < $1.0 }
    }
}

/// No place.
private let none = -1
