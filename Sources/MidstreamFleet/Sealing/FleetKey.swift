internal import Foundation
internal import MidstreamCacheStore

/// What the members of a fleet seal tokens and cached responses with, before they go to the store.
///
/// Shows nothing of itself.
public struct FleetKey: Sendable {
    /// Why there is no key.
    public enum Invalid: Error, Sendable, Hashable, CustomStringConvertible {
        /// The text isn't the base64 of 32 bytes.
        case malformed
        /// The environment has no such variable.
        case missing(variable: String)
        /// The system has no library for AES (libcrypto).
        case unsupported

        /// The reason in a sentence.
        public var description: String {
            switch self {
            case .malformed: "A fleet's key is the base64 of 32 bytes."
            case .missing(let variable): "The environment has no variable \(variable) with the fleet's key."
            case .unsupported: "Sealing needs libcrypto of OpenSSL: libcrypto.so.3, .4 or .1.1."
            }
        }
    }

    /// The first seals, all open; empty: nothing is sealed.
    let secrets: [[UInt8]]

    private init(secrets: [[UInt8]]) { self.secrets = secrets }

    /// Takes a key as text.
    ///
    /// - Parameters:
    ///   - base64: 32 random bytes in base64, such as `openssl rand -base64 32` prints.
    ///   - other: One that opens as well, for a rotation: give all members `old` and `new`, then `new` and `old`, then `new`.
    /// - Throws: ``Invalid``.
    public init(base64: String, alsoOpening other: String? = nil) throws(Invalid) {
        var secrets: [[UInt8]] = []
        for text in [base64, other].compactMap({ $0 }) {
            guard let secret = Data(base64Encoded: text), secret.count == 32 else { throw .malformed }
            secrets.append(Array(secret))
        }
        guard AESGCM.isThere else { throw .unsupported }
        self.init(secrets: secrets)
    }

    /// Takes a key from a variable of the environment: one or two of 32 bytes in base64, with a comma between them, of which the
    /// first seals.
    ///
    /// - Throws: ``Invalid``.
    public static func environment(_ variable: String) throws(Invalid) -> FleetKey {
        guard let text = ProcessInfo.processInfo.environment[variable], !text.isEmpty else {
            throw .missing(variable: variable)
        }
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard parts.count <= 2 else { throw .malformed }
        return try FleetKey(base64: parts[0], alsoOpening: parts.dropFirst().first)
    }

    /// Seals nothing: whoever may read the store reads the tokens.
    public static let unsealed = FleetKey(secrets: [])
}

extension FleetKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Whether it seals.
    public var description: String { secrets.isEmpty ? "unsealed" : "key of a fleet" }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// Shows what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["key": description]) }
}

extension FleetKey {
    private static let sealed: UInt8 = 1
    private static let plain: UInt8 = 0

    /// Bytes that nobody without a key reads, nor puts in another place.
    ///
    /// - Parameter place: Where they are kept, such as the name of a key.
    func seal(_ bytes: [UInt8], for place: String) throws -> [UInt8] {
        guard let secret = secrets.first else { return [Self.plain] + bytes }
        return [Self.sealed] + (try AESGCM.seal(bytes, by: secret, with: Array(place.utf8)))
    }

    /// What was sealed; nil for anything else.
    func open(_ bytes: [UInt8], of place: String) -> [UInt8]? {
        guard let kind = bytes.first else { return nil }
        let rest = Array(bytes.dropFirst())
        if secrets.isEmpty { return kind == Self.plain ? rest : nil }
        guard kind == Self.sealed else { return nil }
        for secret in secrets {
            if let opened = AESGCM.open(rest, by: secret, with: Array(place.utf8)) { return opened }
        }
        return nil
    }

    /// Whether it was sealed by what seals now.
    func hasSealed(_ bytes: [UInt8], for place: String) -> Bool {
        FleetKey(secrets: Array(secrets.prefix(1))).open(bytes, of: place) != nil
    }

    /// Random bytes that all members know, and others only where nothing is sealed.
    func salt(of fleet: String) -> [UInt8] { salts(of: fleet)[0] }

    /// Those of each secret, that which seals first; at least one.
    func salts(of fleet: String) -> [[UInt8]] {
        (secrets.isEmpty ? [[]] : secrets).map { SHA256.hash(Array("midstream fleet \(fleet)".utf8) + $0) }
    }
}
