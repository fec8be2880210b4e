internal import Foundation
internal import MidstreamCore

/// The answer to a challenge of the Digest scheme (RFC 7616 §3.4) for one request.
struct DigestAnswer {
    let challenge: DigestChallenge
    let user: String
    let password: String
    let clientNonce: String
    /// How many requests the nonce has been used for, this one included.
    let count: UInt32

    /// The value of the `Authorization` field.
    ///
    /// - Parameters:
    ///   - uri: The request's target as it goes on the wire.
    ///   - body: The body, when it is in memory; the quality `auth-int` covers it.
    /// - Throws: ``HTTPError/Code/unsupported`` when the server wants `auth-int` and nothing else for a body that
    ///   isn't in memory, or when the system has no such hash function.
    func field(method: String, uri: String, body: [UInt8]?) throws -> String {
        let quality = try quality(body: body)
        let nonceCount = withUnsafeBytes(of: count.bigEndian) { $0.hexadecimal }
        let hash = challenge.function.hexadecimal
        var userHash = try hash("\(prepared(user)):\(challenge.realm):\(prepared(password))")
        if challenge.isSession { userHash = try hash("\(userHash):\(challenge.firstNonce):\(clientNonce)") }
        var target = "\(method):\(uri)"
        if quality == "auth-int" { target += ":" + (try challenge.function.hash(body ?? []).hexadecimal) }
        let targetHash = try hash(target)
        let middle = quality.map { "\(challenge.nonce):\(nonceCount):\(clientNonce):\($0)" } ?? challenge.nonce
        let response = try hash("\(userHash):\(middle):\(targetHash)")

        var fields = try [userField(), "realm=\(challenge.realm.quoted)", "uri=\(uri.quoted)"]
        if let algorithm = challenge.algorithm { fields.append("algorithm=\(algorithm)") }
        fields.append("nonce=\(challenge.nonce.quoted)")
        if let quality { fields += ["nc=\(nonceCount)", "cnonce=\(clientNonce.quoted)", "qop=\(quality)"] }
        if quality == nil, challenge.isSession { fields.append("cnonce=\(clientNonce.quoted)") }
        fields.append("response=\"\(response)\"")
        if let opaque = challenge.opaque { fields.append("opaque=\(opaque.quoted)") }
        if challenge.wantsHashedUser { fields.append("userhash=true") }
        return "Digest " + fields.joined(separator: ", ")
    }

    private func quality(body: [UInt8]?) throws -> String? {
        if challenge.qualities.isEmpty { return nil }
        if challenge.qualities.contains("auth") { return "auth" }
        guard body != nil else {
            throw HTTPError(
                .unsupported, "The server wants a digest of the body (auth-int), which has to be in memory for that.",
                phase: .answered)
        }
        return "auth-int"
    }

    /// However a text was composed, both sides hash the same bytes where the server says that it takes UTF-8 (RFC 7616 §4).
    private func prepared(_ text: String) -> String {
        challenge.takesUTF8 ? text.precomposedStringWithCanonicalMapping : text
    }

    private func userField() throws -> String {
        let user = prepared(user)
        if challenge.wantsHashedUser {
            return "username=\"\(try challenge.function.hexadecimal("\(user):\(challenge.realm)"))\""
        }
        // A name that a quoted string can't hold goes in the extended notation (RFC 7616 §3.4, RFC 8187).
        let isPlain = user.utf8.allSatisfy { 32...126 ~= $0 }
        return isPlain || !challenge.takesUTF8 ? "username=\(user.quoted)" : "username*=UTF-8''\(user.percentEncoded)"
    }
}
