/// A set of ASCII characters, as bits.
@frozen
package struct ASCIISet: Sendable {
    @usableFromInline var low: UInt64 = 0
    @usableFromInline var high: UInt64 = 0

    package init(_ characters: String) {
        for byte in characters.utf8 {
            if byte < 64 { low |= 1 << UInt64(byte) } else { high |= 1 << UInt64(byte - 64) }
        }
    }

    /// All but some.
    init(excluding characters: String) {
        self.init(characters)
        (low, high) = (~low, ~high)
    }

    @inlinable @inline(__always)
    package func contains(_ byte: UInt8) -> Bool {
        // `&>>` takes the number modulo 64, as the processor does, without a check.
        byte < 128 && (byte < 64 ? low : high) &>> UInt64(byte) & 1 == 1
    }

    private static let alphanumeric = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    /// Tokens (RFC 9110 §5.6.2).
    package static let token = ASCIISet(alphanumeric + "!#$%&'*+-.^_`|~")
    /// Keys of Structured Fields (RFC 9651 §3.1.2).
    static let structuredKey = ASCIISet("abcdefghijklmnopqrstuvwxyz0123456789_-.*")
    /// Byte Sequences of Structured Fields (RFC 9651 §3.3.5).
    static let base64 = ASCIISet(alphanumeric + "+/=")
    /// Unreserved characters, which never need percent-encoding (RFC 3986 §2.3).
    package static let unreserved = ASCIISet(alphanumeric + "-._~")
    /// The unreserved ones and what divides a path into segments.
    static let withinPath = ASCIISet(alphanumeric + "-._~/")
    /// Paths, queries and fragments, without `%`. Brackets may only stand around an address (RFC 3986 §3.2.2).
    static let url = ASCIISet(alphanumeric + "-._~!$&'()*+,;=:@/?#")
    /// Unreserved and reserved characters, all that a URI is made of but for `%` (RFC 3986 §2.2, §2.3).
    package static let uri = ASCIISet(alphanumeric + "-._~:/?#[]@!$&'()*+,;=")
    /// Hosts that aren't addresses (RFC 3986 §3.2.2), without `%`: libcurl decodes them, so that they would be other hosts than those that
    /// rules and limits are about.
    static let host = ASCIISet(alphanumeric + "-._~!$&'()*+,;=")
    /// Quoted names in the heads of a form's parts (WHATWG HTML, multipart/form-data encoding algorithm).
    static let quotedInForm = ASCIISet(excluding: "\"\r\n")
    /// Forms leave these as they are (WHATWG URL §5.2), but for the space, which becomes a plus.
    static let form = ASCIISet(alphanumeric + "*-._ ")
    /// What nests names in forms: `user[name]`, `user.name`.
    static let nesting = ASCIISet("[].")
    /// Characters that don't end a host.
    static let withinHost = ASCIISet(excluding: "/?#@\\")
    /// URLs that need no further check.
    static let plainURL = ASCIISet(alphanumeric + "-._~!$&'()*+,;=:/?#")
}
