/// A set of ASCII characters that is asked about by two shifts.
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
        // A shift by more than there is would have to be checked; `&>>` takes the number modulo 64, as the processor does.
        byte < 128 && (byte < 64 ? low : high) &>> UInt64(byte) & 1 == 1
    }

    private static let alphanumeric = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    /// What a token is made of (RFC 9110 §5.6.2).
    package static let token = ASCIISet(alphanumeric + "!#$%&'*+-.^_`|~")
    /// What a key of Structured Fields is made of (RFC 9651 §3.1.2).
    static let structuredKey = ASCIISet("abcdefghijklmnopqrstuvwxyz0123456789_-.*")
    /// What a Byte Sequence of Structured Fields is made of (RFC 9651 §3.3.5).
    static let base64 = ASCIISet(alphanumeric + "+/=")
    /// What never needs percent-encoding (RFC 3986 §2.3).
    static let unreserved = ASCIISet(alphanumeric + "-._~")
    /// What may stand in a path, a query or a fragment, `%` excepted: brackets may only stand around an address (RFC 3986 §3.2.2).
    static let url = ASCIISet(alphanumeric + "-._~!$&'()*+,;=:@/?#")
    /// What a host that isn't an address may be made of (RFC 3986 §3.2.2).
    static let host = ASCIISet(alphanumeric + "-._~!$&'()*+,;=%")
    /// What may stand between quotes in the head of a part of a form (WHATWG HTML, multipart/form-data encoding algorithm).
    static let quotedInForm = ASCIISet(excluding: "\"\r\n")
    /// What a form leaves as it is (WHATWG URL §5.2), and the space, which becomes a plus.
    static let form = ASCIISet(alphanumeric + "*-._ ")
    /// What doesn't end a host.
    static let withinHost = ASCIISet(excluding: "/?#@\\")
    /// What may stand in a URL that needs no closer look.
    static let plainURL = ASCIISet(alphanumeric + "-._~!$&'()*+,;=:/?#")
}
