internal import MidstreamCore

/// A challenge of the Digest scheme (RFC 7616 §3.3) that can be answered.
struct DigestChallenge: Sendable, Hashable {
    let realm: String
    /// That of the challenge, to which the session form of the algorithms binds the user's hash (RFC 7616 §3.4.2).
    let firstNonce: String
    /// That, or the one that the server wants to see next.
    var nonce: String
    let opaque: String?
    /// The algorithm's name as the server wrote it; nil when it named none, which means MD5.
    let algorithm: String?
    let function: HashFunction
    /// Whether the user's hash is bound to the nonce (`MD5-sess`, `SHA-256-sess`).
    let isSession: Bool
    /// The qualities of protection on offer, in small letters; empty for a server of RFC 2069.
    let qualities: [String]
    /// Whether the credentials are right and only the nonce was too old.
    let isStale: Bool
    let wantsHashedUser: Bool
    let takesUTF8: Bool

    /// nil when it is of another scheme, or asks for what isn't known here.
    init?(_ challenge: AuthenticationChallenge) {
        let given = challenge.parameters
        guard challenge.scheme.equalsIgnoringASCIICase("Digest"), let nonce = given["nonce"] else {
            return nil
        }
        switch given["algorithm"]?.lowercased() {
        case nil, "", "md5": (function, isSession) = (.md5, false)
        case "md5-sess": (function, isSession) = (.md5, true)
        case "sha-256": (function, isSession) = (.sha256, false)
        case "sha-256-sess": (function, isSession) = (.sha256, true)
        default: return nil
        }
        self.realm = given["realm"] ?? ""
        self.nonce = nonce
        firstNonce = nonce
        opaque = given["opaque"]
        algorithm = given["algorithm"].flatMap { $0.isEmpty ? nil : $0 }
        qualities = given["qop"].map(Self.qualities) ?? []
        guard qualities.isEmpty || qualities.contains("auth") || qualities.contains("auth-int") else { return nil }
        isStale = given["stale"]?.equalsIgnoringASCIICase("true") ?? false
        wantsHashedUser = given["userhash"]?.equalsIgnoringASCIICase("true") ?? false
        takesUTF8 = given["charset"]?.equalsIgnoringASCIICase("UTF-8") ?? false
    }

    /// The first few that are offered: there are two that mean anything.
    private static func qualities(_ list: String) -> [String] {
        list.utf8.prefix(256).split { $0 == UInt8(ascii: ",") || $0 == 32 || $0 == 9 }
            .map { String(decoding: $0, as: UTF8.self).lowercased() }
    }

    /// The strongest of a response's challenges; among equals the first, which the server prefers (RFC 7616 §3.7).
    static func best(in headers: HTTPHeaders) -> DigestChallenge? {
        let known = AuthenticationChallenge.all(in: headers).compactMap { DigestChallenge($0) }
        return known.first { $0.function == .sha256 } ?? known.first
    }
}
