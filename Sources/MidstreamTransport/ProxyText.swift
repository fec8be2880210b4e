internal import MidstreamCore

extension String {
    /// libcurl's words without the address of a proxy that it can't read: it quotes all of it, and nobody knows where in it the password is.
    package var withoutProxyAddress: String {
        guard hasPrefix("Unsupported proxy"), let quote = utf8.firstIndex(of: UInt8(ascii: "'")) else { return self }
        return "\(self[..<quote])\(String.withheld)"
    }
}
