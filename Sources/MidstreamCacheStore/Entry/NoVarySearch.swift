package import MidstreamCore

/// Which part of a query doesn't matter, by `No-Vary-Search`.
package struct NoVarySearch: Sendable, Hashable {
    private var ignoresOrder = false
    /// The names that don't matter, or, with `ignoresOthers`, those that do.
    private var names: Set<String> = []
    private var ignoresOthers = false

    /// How many bytes a rule may have, since many are remembered.
    private static let mostBytes = 2048

    /// Nil: there is none, it can't be read, it has no effect, or it is longer than anybody's.
    package init?(_ headers: HTTPHeaders) {
        let values = headers.values("No-Vary-Search")
        guard !values.isEmpty, values.reduce(0, { $0 + $1.utf8.count }) <= Self.mostBytes,
            let dictionary = StructuredDictionary(values)
        else { return nil }
        switch dictionary["key-order"] {
        case nil: break
        case .boolean(let value)?: ignoresOrder = value
        default: return nil
        }
        switch (dictionary["params"], dictionary["except"]) {
        case (nil, nil): break
        case (.boolean(let value)?, nil): ignoresOthers = value
        case (.list(let list)?, nil), (nil, .list(let list)?):
            guard let names = Self.strings(list) else { return nil }
            (self.names, ignoresOthers) = (names, dictionary["except"] != nil)
        default: return nil
        }
        if !ignoresOrder, !ignoresOthers, names.isEmpty { return nil }
    }

    private static func strings(_ values: [StructuredDictionary.Value]) -> Set<String>? {
        var strings: Set<String> = []
        for value in values {
            guard case .string(let text) = value else { return nil }
            strings.insert(text)
        }
        return strings
    }

    /// What a rule is looked up by: a URL without its query.
    static func path(of url: String) -> String { url.utf8.firstIndex(of: UInt8(ascii: "?")).map { String(url[..<$0]) } ?? url }

    /// What the removal of any URL of a path is noted by, beside the URL.
    package static func anything(like url: String) -> String { path(of: url) + "#" }

    /// How many parts a query may have that is put in order.
    private static let mostItems = 1024

    /// The URL that stands for all that are the same to the rule; nil when its query has more parts than anybody's, so that it stands for
    /// itself. No normalised URL looks like it, since none has a fragment.
    package func canonical(_ url: String) -> String? {
        let path = Self.path(of: url)
        let query = url.utf8.dropFirst(path.utf8.count + 1)
        guard query.lazy.filter({ $0 == UInt8(ascii: "&") }).count < Self.mostItems else { return nil }
        var items = query.split(separator: UInt8(ascii: "&")).map(Self.item)
        items.removeAll { item in names.contains(item.name) != ignoresOthers }
        if ignoresOrder {
            // Of items with the same name the order is kept.
            items = items.enumerated().sorted { a, b in
                a.element.name == b.element.name ? a.offset < b.offset : a.element.name < b.element.name
            }.map(\.element)
        }
        return path + "#" + items.map { "\($0.name.percentEncoded)=\($0.value.percentEncoded)" }.joined(separator: "&")
    }

    /// An item as forms are read (WHATWG URL §5.1).
    private static func item(_ text: Substring.UTF8View) -> (name: String, value: String) {
        let parts = text.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        let name = parts.first.map(decoded) ?? ""
        return (name, parts.count > 1 ? decoded(parts[1]) : "")
    }

    private static func decoded(_ text: Substring.UTF8View) -> String {
        String(decoding: Array(text).percentDecoded(plusIsSpace: true), as: UTF8.self)
    }
}
