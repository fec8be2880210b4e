internal import Interception
internal import MidstreamCore

/// What is known about each key of a scope.
///
/// The keys used last are found by comparing bytes, so that an exchange costs no allocation.
final class ScopeTable<State: AnyObject & Sendable>: Sendable {
    private struct Entry {
        let state: State
        /// The larger, the later.
        var lastUse: UInt64
    }

    private struct Recent {
        let key: String
        /// Of the key.
        let bytes: ContiguousArray<UInt8>
        let state: State
    }

    private struct Contents {
        var entries: [String: Entry] = [:]
        /// The first is the one looked up last.
        var recent: [Recent] = []
        var uses: UInt64 = 0

        func state(for request: HTTPRequest) -> State? {
            for place in recent.indices where recent[place].bytes.withUnsafeBufferPointer({ request.isSent(to: $0) }) {
                return recent[place].state
            }
            return nil
        }
    }

    private let scope: ResilienceScope
    private let maximum: Int
    private let make: @Sendable (String) -> State
    private let single: State?
    private let contents = Locked(Contents())

    init(_ scope: ResilienceScope, maximum: Int = 1_000, make: @escaping @Sendable (String) -> State) {
        self.scope = scope
        self.maximum = maximum
        self.make = make
        if case .client = scope.kind { single = make("all requests") } else { single = nil }
    }

    /// Whether a closure tells the key.
    var asksSomebody: Bool { scope.asksSomebody }

    /// Whether all requests are of one key.
    var isSingle: Bool { single != nil }

    /// That of a request, made if there is none.
    func state(for request: HTTPRequest) -> State {
        if let single { return single }
        if case .key(let key) = scope.kind { return state(of: key(request)) }
        if let found = contents.withLock({ $0.state(for: request) }) { return found }
        return state(of: HTTPOrigin(request.urlText)?.description ?? "")
    }

    /// That of a key, made if there is none.
    func state(of key: String) -> State {
        if let single { return single }
        return contents.withLock { contents in
            if let first = contents.recent.first, first.key == key { return first.state }
            contents.uses += 1
            let state = contents.entries[key]?.state ?? make(key)
            contents.entries[key] = Entry(state: state, lastUse: contents.uses)
            contents.recent.removeAll { $0.key == key }
            contents.recent.insert(Recent(key: key, bytes: ContiguousArray(key.utf8), state: state), at: 0)
            if contents.recent.count > 4 { contents.recent.removeLast() }
            if contents.entries.count > maximum { forgetOne(&contents) }
            return state
        }
    }

    /// Those that are known, by their keys.
    var all: [(key: String, state: State)] {
        if let single { return [("all requests", single)] }
        return contents.withLock { $0.entries.map { ($0.key, $0.value.state) } }.sorted { $0.0 < $1.0 }
    }

    private func forgetOne(_ contents: inout Contents) {
        let recent = contents.recent
        let candidates = contents.entries.filter { entry in !recent.contains { $0.key == entry.key } }
        if let oldest = candidates.min(by: { $0.value.lastUse < $1.value.lastUse }) { contents.entries[oldest.key] = nil }
    }
}
