internal import MidstreamCore

/// The secret path of the live page, and what is found there.
struct InspectorPath: Sendable {
    enum Resource: Equatable {
        case page
        /// The calls with numbers above this one.
        case events(after: Int)
    }

    let url: String
    private let root: String
    private let hosts: [String]

    init(port: Int) {
        var random = SystemRandomNumberGenerator()
        root = "/" + (0..<32).map { _ in String(UInt8.random(in: 0..<16, using: &random), radix: 16) }.joined() + "/"
        let names = ["127.0.0.1", "localhost"]
        // Browsers leave out the port that belongs to http.
        hosts = names.map { "\($0):\(port)" } + (port == 80 ? names : [])
        url = "http://\(hosts[0])\(root)"
    }

    /// Nil for what isn't there, and for whoever came by another name: a page of another origin can have its own name resolve to this machine, and would be
    /// of the same origin then.
    func resource(_ target: String, _ headers: HTTPHeaders) -> Resource? {
        guard let host = headers[.host], hosts.contains(host.lowercased()), isRoot(target.utf8.prefix(root.utf8.count))
        else { return nil }
        let rest = String(decoding: target.utf8.dropFirst(root.utf8.count), as: UTF8.self)
        if rest.isEmpty { return .page }
        let parts = rest.split(separator: "?after=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts[0] == "events" else { return nil }
        let last = headers["Last-Event-ID"] ?? (parts.count > 1 ? String(parts[1]) : "")
        return .events(after: max(0, Int(last) ?? 0))
    }

    /// In the same time wherever they differ.
    private func isRoot(_ start: Substring.UTF8View) -> Bool {
        start.count == root.utf8.count && zip(start, root.utf8).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
