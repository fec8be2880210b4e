internal import MidstreamCore

/// Takes a template apart (RFC 6570 §2), in one pass.
enum TemplateParser {
    static func parts(of text: String) throws(TemplateProblem) -> [TemplatePart] {
        let bytes = Array(text.utf8)
        var parts: [TemplatePart] = []
        var place = 0
        while place < bytes.count {
            switch bytes[place] {
            case UInt8(ascii: "}"): throw .unopened
            case UInt8(ascii: "{"):
                guard let end = bytes[place...].firstIndex(of: UInt8(ascii: "}")) else { throw .unclosed }
                parts.append(try expression(bytes[(place + 1)..<end]))
                place = end + 1
            default:
                let end = bytes[place...].firstIndex { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "}") } ?? bytes.count
                parts.append(.literal(try literal(bytes[place..<end])))
                place = end
            }
        }
        return parts
    }

    private static func literal(_ bytes: ArraySlice<UInt8>) throws(TemplateProblem) -> String {
        // Control characters, the space and these may not stand in a literal (§2.1).
        guard bytes.allSatisfy({ $0 > 32 && $0 != 127 && !"\"<>\\^`|".utf8.contains($0) }) else {
            throw .character
        }
        return String(decoding: bytes, as: UTF8.self).templateLiteral
    }

    private static func expression(_ bytes: ArraySlice<UInt8>) throws(TemplateProblem) -> TemplatePart {
        guard let first = bytes.first else { throw .empty }
        if "=,!@|".utf8.contains(first) { throw .reservedOperator(Character(Unicode.Scalar(first))) }
        let form = TemplateOperator(first)
        let list = form == nil ? bytes : bytes.dropFirst()
        guard !list.isEmpty else { throw .empty }
        var variables: [TemplateVariable] = []
        for specification in list.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            variables.append(try variable(specification))
        }
        return .expression(form ?? .simple, variables)
    }

    private static func variable(_ bytes: ArraySlice<UInt8>) throws(TemplateProblem) -> TemplateVariable {
        if bytes.last == UInt8(ascii: "*") {
            return TemplateVariable(name: try name(bytes.dropLast()), prefix: nil, isExploded: true)
        }
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else {
            return TemplateVariable(name: try name(bytes), prefix: nil, isExploded: false)
        }
        let digits = bytes[(colon + 1)...]
        let length = String(decoding: digits, as: UTF8.self)
        guard 1...4 ~= digits.count, digits.first != UInt8(ascii: "0"), digits.allSatisfy({ 0x30...0x39 ~= $0 }),
            let prefix = Int(length)
        else { throw .prefixLength(length) }
        return TemplateVariable(name: try name(bytes[..<colon]), prefix: prefix, isExploded: false)
    }

    private static func name(_ bytes: ArraySlice<UInt8>) throws(TemplateProblem) -> String {
        let name = String(decoding: bytes, as: UTF8.self)
        let words = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard words.allSatisfy(isWord) else { throw .name(name) }
        return name
    }

    /// Whether it is made of letters, digits, underscores and encoded bytes, and isn't empty.
    private static func isWord(_ bytes: ArraySlice<UInt8>) -> Bool {
        var rest = bytes
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "_"):
                continue
            case UInt8(ascii: "%"):
                guard rest.popFirst()?.hexadecimalValue != nil, rest.popFirst()?.hexadecimalValue != nil else { return false }
            default: return false
            }
        }
        return !bytes.isEmpty
    }
}
