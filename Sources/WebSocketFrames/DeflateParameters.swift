/// What both sides of a connection have agreed on for permessage-deflate (RFC 7692 §7.1).
package struct DeflateParameters: Equatable, Sendable {
    package var serverKeepsContext = true
    package var clientKeepsContext = true
    package var serverWindowBits = 15
    package var clientWindowBits = 15

    package init() {}

    /// What a client offers in `Sec-WebSocket-Extensions`.
    package static let offer = "permessage-deflate; client_max_window_bits"

    /// Reads what a server's `Sec-WebSocket-Extensions` has chosen of ``offer``; nil when that is anything else.
    package init?(answer value: String) {
        let parts = value.split(separator: ";", omittingEmptySubsequences: false).map(Self.trimmed)
        guard parts.first?.lowercased() == "permessage-deflate" else { return nil }
        var seen: Set<String> = []
        for part in parts.dropFirst() {
            let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(Self.trimmed)
            let name = sides[0].lowercased()
            guard seen.insert(name).inserted, set(name, sides.count > 1 ? sides[1] : nil) else { return nil }
        }
    }

    private mutating func set(_ name: String, _ value: Substring?) -> Bool {
        switch (name, value) {
        case ("server_no_context_takeover", nil): serverKeepsContext = false
        case ("client_no_context_takeover", nil): clientKeepsContext = false
        case ("server_max_window_bits", let value?): return Self.bits(value).map { serverWindowBits = $0 } != nil
        case ("client_max_window_bits", let value?): return Self.bits(value).map { clientWindowBits = $0 } != nil
        default: return false
        }
        return true
    }

    /// 8 to 15, perhaps in quotation marks, without a zero before it.
    private static func bits(_ text: Substring) -> Int? {
        let isQuoted = text.count > 1 && text.first == "\"" && text.last == "\""
        let digits = isQuoted ? text.dropFirst().dropLast() : text
        guard digits.first != "0", digits.utf8.allSatisfy({ 48...57 ~= $0 }), let bits = Int(digits), 8...15 ~= bits else {
            return nil
        }
        return bits
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while text.first == " " || text.first == "\t" { text.removeFirst() }
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return text
    }

    /// As a server's answer.
    package var answer: String {
        var text = "permessage-deflate"
        if !serverKeepsContext { text += "; server_no_context_takeover" }
        if !clientKeepsContext { text += "; client_no_context_takeover" }
        if serverWindowBits < 15 { text += "; server_max_window_bits=\(serverWindowBits)" }
        if clientWindowBits < 15 { text += "; client_max_window_bits=\(clientWindowBits)" }
        return text
    }

    /// What compresses one side's messages; nil: they go as they are, since zlib isn't there or can't do it.
    package func deflater(for role: FrameRole) -> Deflater? {
        role == .client
            ? Deflater(windowBits: clientWindowBits, keepsContext: clientKeepsContext)
            : Deflater(windowBits: serverWindowBits, keepsContext: serverKeepsContext)
    }

    /// What inflates the messages that one side receives.
    package func inflater(for role: FrameRole) -> Inflater? {
        Inflater(windowBits: role == .client ? serverWindowBits : clientWindowBits)
    }
}
