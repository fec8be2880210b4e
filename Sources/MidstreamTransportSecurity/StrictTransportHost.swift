public import Foundation
internal import MidstreamCore

/// A host that is spoken to by TLS alone (RFC 6797).
public struct StrictTransportHost: Sendable, Hashable, Codable {
    /// The name as it goes on the wire: in small letters of ASCII, without a dot at its end.
    public let name: String
    /// Until when.
    public let expires: Date
    /// Whether the names below it are, too.
    public let includesSubdomains: Bool

    /// Makes one that is known beforehand.
    ///
    /// - Parameters:
    ///   - name: The name; letters may be large, or of any script. An address is no name, and has no effect, nor has `localhost`.
    ///   - expires: Until when; never by default.
    ///   - includesSubdomains: Whether the names below it are meant, too; false by default.
    public init(_ name: String, expires: Date = .distantFuture, includesSubdomains: Bool = false) {
        self.name = Self.normalized(name)
        self.expires = expires
        self.includesSubdomains = includesSubdomains
    }

    static func normalized(_ name: some StringProtocol) -> String {
        let text = String(name)
        let name = (URLText.asciiHost(text[...]) ?? text).lowercased()
        return name.hasSuffix(".") ? String(name.dropLast()) : name
    }

    /// The last labels of the name, so many of them; the name where it hasn't more.
    func domain(of labels: Int) -> Substring {
        var start = name.endIndex
        for _ in 0..<labels {
            guard let dot = name.utf8[..<start].lastIndex(of: UInt8(ascii: ".")) else { return name[...] }
            start = dot
        }
        return name[name.utf8.index(after: start)...]
    }

    /// Whether it may be one: addresses are not (RFC 6797 §8.1.1), in whatever spelling, nor is this machine, of which each port is another
    /// server (Fetch, "main fetch").
    static func isName(_ host: String) -> Bool {
        guard !host.isEmpty, !host.hasPrefix("["), !host.contains(":"),
            let last = host.utf8.split(separator: UInt8(ascii: ".")).last
        else {
            return false
        }
        // What ends in a number is an address of IPv4, or wants to be.
        let isHexadecimal =
            last.starts(with: "0x".utf8) && last.dropFirst(2).allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
        return !isHexadecimal && !last.allSatisfy { 48...57 ~= $0 } && !last.elementsEqual("localhost".utf8)
    }
}
