internal import Foundation
internal import MidstreamCore
public import MidstreamTransport

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
    /// With a unix socket it is only a name.
    let origin: HTTPOrigin
    let socketPath: String?
    /// nil: the connection isn't secured.
    let tls: TLSConfiguration?
    private let user: String?
    private let password: String?
    let database: Int

    init(_ server: FleetServer) throws(FleetServer.Invalid) {
        guard let url = URLComponents(string: server.url), let scheme = url.scheme, ["redis", "rediss", "unix"].contains(scheme)
        else { throw .init(description: "The server's URL begins with redis://, rediss:// or unix://.") }
        let isSocket = scheme == "unix"
        let (host, path, port) = (url.percentEncodedHost ?? "", url.path, url.port ?? 6379)
        guard isSocket ? host.isEmpty && path.hasPrefix("/") : !host.isEmpty && 1...65_535 ~= port,
            let origin = HTTPOrigin(
                isSocket ? "http://localhost" : "\(scheme == "rediss" ? "https" : "http")://\(host):\(port)")
        else {
            throw .init(description: "The server's URL has no host, a port beyond 65535, or of a unix socket no absolute path.")
        }
        (user, password) = (url.user.flatMap { $0.isEmpty ? nil : $0 }, url.password)
        guard user == nil || password != nil else { throw .init(description: "The server's URL has a user and no password.") }
        let items = url.queryItems ?? []
        guard items.count <= (isSocket ? 1 : 0), items.allSatisfy({ $0.name == "db" }), url.fragment == nil else {
            throw .init(description: "The server's URL has a query other than db=NUMBER of a unix socket, or a fragment.")
        }
        let number = isSocket ? items.first?.value ?? "" : String(path.dropFirst())
        guard let database = number.isEmpty && items.isEmpty ? 0 : Int(number), database >= 0 else {
            throw .init(description: "The server's database is a number.")
        }
        self.origin = origin
        self.database = database
        socketPath = isSocket ? path : nil
        tls = scheme == "rediss" ? server.tls ?? TLSConfiguration() : nil
    }

    var description: String { socketPath ?? "\(origin.host):\(origin.port)\(tls == nil ? "" : " over TLS")" }

    /// What each connection begins with.
    func greeting(as name: String) -> [RESPCommand] {
        var commands: [RESPCommand] = []
        if let password { commands.append(RESPCommand([.text("AUTH")] + [user, password].compactMap { $0.map { .text($0) } })) }
        if database != 0 { commands.append(RESPCommand("SELECT", "\(database)")) }
        commands.append(RESPCommand("CLIENT", "SETNAME", .text(name)))
        return commands
    }
}
