package import MidstreamCore

/// Tells values apart without keeping them: salted SHA-256.
package struct Fingerprint: Sendable {
    private let salt: [UInt8]

    /// - Parameter salt: Random bytes that nobody outside knows.
    package init(salt: [UInt8]) { self.salt = salt }

    /// What values of secret fields are kept as.
    package func text(of values: [String]) -> String {
        var bytes = salt
        for value in values {
            // Its length keeps two values from reading like two others.
            withUnsafeBytes(of: UInt64(value.utf8.count).littleEndian) { bytes += $0 }
            bytes += value.utf8
        }
        return SHA256.hash(bytes).hexadecimal
    }

    /// Whose a request is, by what it carries that is secret and by the users whose it will be; nil when there is nothing of that kind.
    package func owner(of request: HTTPRequest, _ users: [String]) -> String? {
        guard request.headers.hasSensitive || !users.isEmpty else { return nil }
        // No field has an empty name.
        var secrets = users.flatMap { ["", $0] }
        for (name, value) in request.headers where request.headers.isSensitive(name) {
            secrets.append(name.rawValue.lowercased())
            secrets.append(value)
        }
        return text(of: secrets)
    }

    /// Random bytes for a salt.
    package static func randomSalt() -> [UInt8] {
        (0..<32).map { _ in UInt8.random(in: .min ... .max) }
    }
}
