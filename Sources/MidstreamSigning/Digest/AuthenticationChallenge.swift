internal import MidstreamCore

/// One challenge of a `WWW-Authenticate` field (RFC 9110 §11.6.1): a scheme and its parameters, or a token in their place.
struct AuthenticationChallenge: Sendable, Hashable {
    let scheme: String
    /// Names in small letters.
    let parameters: [String: String]

    /// The challenges of all fields of the name, in order. What can't be understood is left out.
    static func all(in headers: HTTPHeaders) -> [AuthenticationChallenge] {
        headers.values(.wwwAuthenticate).flatMap { field in
            var scanner = FieldScanner(field)
            return scanner.challenges()
        }
    }
}

/// Parameters such as those of `Authentication-Info` (RFC 7615 §3).
func parameters(of field: String) -> [String: String] {
    var scanner = FieldScanner(field)
    return scanner.parameters().values
}

/// Reads the grammar of challenges, in which commas part both challenges and parameters.
private struct FieldScanner {
    private let bytes: [UInt8]
    private var place = 0

    init(_ field: String) { bytes = Array(field.utf8) }

    mutating func challenges() -> [AuthenticationChallenge] {
        var challenges: [AuthenticationChallenge] = []
        var scheme: String? = nil
        skipSeparators()
        if let first = token() { scheme = first }
        while let current = scheme {
            let (values, next) = parameters()
            challenges.append(AuthenticationChallenge(scheme: current, parameters: values))
            scheme = next
        }
        return challenges
    }

    /// Parameters up to the end or the scheme of the next challenge, which is a token that no `=` follows.
    mutating func parameters() -> (values: [String: String], nextScheme: String?) {
        var values: [String: String] = [:]
        while true {
            skipSeparators()
            guard place < bytes.count else { return (values, nil) }
            guard let name = token() else {
                // Neither a token nor a separator: the rest of a token68, or rubbish.
                place += 1
                continue
            }
            let start = place
            skipSpaces()
            guard peek == UInt8(ascii: "=") else {
                place = start
                return (values, name)
            }
            place += 1
            skipSpaces()
            guard let value = peek == UInt8(ascii: "\"") ? quotedString() : token() else { continue }
            values[name.lowercased()] = values[name.lowercased()] ?? value
        }
    }

    private var peek: UInt8? { place < bytes.count ? bytes[place] : nil }

    private mutating func skipSpaces() {
        while let byte = peek, byte == 32 || byte == 9 { place += 1 }
    }

    private mutating func skipSeparators() {
        while let byte = peek, byte == 32 || byte == 9 || byte == UInt8(ascii: ",") { place += 1 }
    }

    private mutating func token() -> String? {
        let start = place
        while let byte = peek, byte.isTokenCharacter { place += 1 }
        return place > start ? String(decoding: bytes[start..<place], as: UTF8.self) : nil
    }

    private mutating func quotedString() -> String {
        var text: [UInt8] = []
        place += 1
        while let byte = peek {
            place += 1
            if byte == UInt8(ascii: "\"") { break }
            if byte == UInt8(ascii: "\\"), let next = peek {
                text.append(next)
                place += 1
            } else {
                text.append(byte)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
