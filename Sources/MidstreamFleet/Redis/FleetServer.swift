internal import Foundation
public import MidstreamCore

/// The server that the members of a fleet share. Its description shows no password.
public struct FleetServer: Sendable {
    /// Why a URL names no server.
    public struct Invalid: Error, Sendable, Hashable, CustomStringConvertible {
        /// What is wrong with it, without the URL, which may hold a password.
        public let description: String
    }

    let url: String
    let tls: TLSConfiguration?

    /// Redis 6 or later, or Valkey.
    ///
    /// - Parameters:
    ///   - url: `redis://user:password@host:port/database`, of which all but the host may be left out; `rediss://` with TLS;
    ///     `unix:///path?db=database`. Percent-encoded where it needs to be.
    ///   - tls: For `rediss`; the system's authorities by default.
    public static func redis(_ url: String, tls: TLSConfiguration? = nil) -> FleetServer { FleetServer(url: url, tls: tls) }
}

extension FleetServer: CustomStringConvertible, CustomReflectable {
    /// The server without user and password.
    public var description: String { (try? RedisAddress(self))?.description ?? "no server" }
    /// Shows what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["server": description]) }
}

/// Where Redis is and how a connection to it begins.
struct RedisAddress: Sendable, CustomStringConvertible {
    enum Place: Sendable, Equatable {
        case origin(HTTPOrigin)
        case socket(path: String)
    }

    let place: Place
    let tls: TLSConfiguration?
    private(set) var user: String?
    private(set) var password: String?
    private(set) var database = 0

    /// - Throws: ``FleetServer/Invalid``.
    init(_ server: FleetServer) throws(FleetServer.Invalid) {
        tls = server.tls
        let url = server.url
        if url.hasPrefix("unix://") {
            let parts = url.dropFirst(7).split(separator: "?", maxSplits: 1)
            guard let path = parts.first?.removingPercentEncoding, path.hasPrefix("/") else {
                throw .init(description: "A unix socket's URL has an absolute path.")
            }
            place = .socket(path: path)
            if parts.count == 2 {
                guard parts[1].hasPrefix("db="), let number = Int(parts[1].dropFirst(3)) else {
                    throw .init(description: "A unix socket's URL takes db=NUMBER and nothing else.")
                }
                database = number
            }
            return
        }
        let scheme: String
        if url.hasPrefix("redis://") {
            scheme = "http"
        } else if url.hasPrefix("rediss://") {
            scheme = "https"
        } else {
            throw .init(description: "The server's URL begins with redis://, rediss:// or unix://.")
        }
        let rest = url.drop { $0 != "/" }.dropFirst(2)
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        let host = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
        let port = host.last == "]" || !host.contains(":") ? ":6379" : ""
        guard let origin = HTTPOrigin("\(scheme)://\(host)\(port)"), rest.dropFirst(authority.count).allSatisfy({ $0 != "?" })
        else {
            throw .init(description: "The server's URL has no host, or a query.")
        }
        place = .origin(origin)
        if let end = authority.lastIndex(of: "@") {
            let parts = authority[..<end].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            user = parts[0].removingPercentEncoding.flatMap { $0.isEmpty ? nil : $0 }
            password = parts.count == 2 ? parts[1].removingPercentEncoding : nil
            guard password != nil else { throw .init(description: "The server's URL has a user and no password.") }
        }
        let path = rest.dropFirst(authority.count).dropFirst()
        guard path.isEmpty || Int(path) != nil else { throw .init(description: "The server's database is a number.") }
        database = Int(path) ?? 0
    }

    var description: String {
        switch place {
        case .origin(let origin): "\(origin.host):\(origin.port)\(origin.scheme == "https" ? " over TLS" : "")"
        case .socket(let path): path
        }
    }

    /// What each connection begins with.
    func greeting(as name: String) -> [RESPCommand] {
        var commands: [RESPCommand] = []
        if let password {
            let words = user.map { ["AUTH", $0, password] } ?? ["AUTH", password]
            commands.append(RESPCommand(words.bytes))
        }
        if database != 0 { commands.append(RESPCommand("SELECT", "\(database)")) }
        commands.append(RESPCommand("CLIENT", "SETNAME", name))
        return commands
    }
}

extension [String] {
    var bytes: [[UInt8]] { map { [UInt8]($0.utf8) } }
}
