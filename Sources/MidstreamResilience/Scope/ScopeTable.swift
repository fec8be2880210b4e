internal import Interception
internal import MidstreamCore

/// What is known about each key of a scope.
///
/// The keys used last are found by comparing texts, so that an exchange costs no allocation.
final class ScopeTable<State: AnyObject & Sendable>: Sendable {
    private struct Entry {
        let key: String
        let state: State
        /// The larger, the later.
        var lastUse: UInt64
    }

    private struct Contents {
        var entries: [String: Entry] = [:]
        /// The first is the one found last.
        var recent: [(key: String, state: State)] = []
        var uses: UInt64 = 0
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

    /// Whether all requests are of one key.
    var isSingle: Bool { single != nil }

    /// That of a request, made if there is none.
    func state(for request: HTTPRequest) -> State {
        if let single { return single }
        switch scope.kind {
        case .key(let key): return state(of: key(request))
        case .origin, .client: break
        }
        let url = request.urlText
        if let found = contents.withLock({ $0.recent.first { url.isBelow(origin: $0.key) }?.state }) { return found }
        return state(of: HTTPOrigin(url)?.description ?? "")
    }

    /// That of a key, made if there is none.
    func state(of key: String) -> State {
        if let single { return single }
        return contents.withLock { contents in
            if let first = contents.recent.first, first.key == key { return first.state }
            contents.uses += 1
            let state = contents.entries[key]?.state ?? make(key)
            contents.entries[key] = Entry(key: key, state: state, lastUse: contents.uses)
            contents.recent.removeAll { $0.key == key }
            contents.recent.insert((key, state), at: 0)
            if contents.recent.count > 4 { contents.recent.removeLast() }
            if contents.entries.count > maximum { forgetOne(&contents) }
            return state
        }
    }

    /// Those that are known, by their keys.
    var all: [(key: String, state: State)] {
        if let single { return [("all requests", single)] }
        return contents.withLock { $0.entries.values.map { ($0.key, $0.state) } }.sorted { $0.0 < $1.0 }
    }

    private func forgetOne(_ contents: inout Contents) {
        let recent = contents.recent
        let candidates = contents.entries.values.filter { entry in !recent.contains { $0.key == entry.key } }
        if let oldest = candidates.min(by: { $0.lastUse < $1.lastUse }) { contents.entries[oldest.key] = nil }
    }
}

extension String {
    /// Whether an absolute URL is of an origin for certain; false says nothing.
    fileprivate func isBelow(origin: String) -> Bool {
        guard !origin.isEmpty, hasPrefix(origin) else { return false }
        let rest = utf8.dropFirst(origin.utf8.count)
        // Only these end the host for certain: what looks like a port may belong to a user's name before the real host.
        return rest.first == nil || rest.first == UInt8(ascii: "/") || rest.first == UInt8(ascii: "?")
    }
}
