internal import MidstreamCore

/// A literal or an expression of a template.
enum TemplatePart: Sendable {
    /// Encoded already.
    case literal(String)
    case expression(TemplateOperator, [TemplateVariable])

    var names: [String] {
        switch self {
        case .literal: []
        case .expression(_, let variables): variables.map(\.name)
        }
    }
}

/// One variable of an expression, and what is done with its value.
struct TemplateVariable: Sendable {
    let name: String
    /// How many characters of the value are used; nil: all.
    let prefix: Int?
    /// Whether the members of a list are treated as values of their own.
    let isExploded: Bool
}

/// How the values of an expression are put together (RFC 6570 appendix A).
struct TemplateOperator: Sendable {
    let first: String
    let separator: String
    var isNamed = false
    /// What stands behind the name of an empty value.
    var ifEmpty = ""
    var keepsReserved = false

    static let simple = Self(first: "", separator: ",")

    func encoded(_ text: String) -> String { keepsReserved ? text.templateLiteral : text.percentEncoded }
}

/// Why a text is no template, or can't be expanded.
enum TemplateProblem: Error, Sendable {
    case unclosed, unopened, empty
    case name(String)
    case prefixLength(String)
    case reservedOperator(Character)
    case character
    /// The beginning of something that has several values.
    case prefixOfSeveral(String)
    /// A segment of the path that leads elsewhere.
    case step(String)

    func message(about template: String) -> String {
        let reason =
            switch self {
            case .unclosed: "an expression isn't closed"
            case .unopened: "a brace closes nothing"
            case .empty: "an expression is empty"
            case .name(let name): "“\(name)” can't be a variable's name"
            case .prefixLength(let text): "“\(text)” is no length of 1…9999"
            case .reservedOperator(let character): "the operator “\(character)” has no meaning yet"
            case .character: "it holds a character that may not stand there"
            case .prefixOfSeveral(let name): "the beginning of “\(name)” is asked for, which has several values"
            case .step(let text):
                "a value, or the lack of one, makes “\(text)” of a segment of the path, which isn't a name but a step in it"
            }
        return "The URI template “\(URLText.redacted(template))” can't be expanded: \(reason)."
    }
}

extension TemplatePart {
    /// The part with values in place of variables (RFC 6570 §3.2); nil when none of them is defined.
    func expansion(_ values: [String: URITemplateContent]) throws(TemplateProblem) -> String? {
        guard case .expression(let form, let variables) = self else {
            if case .literal(let text) = self { return text }
            return nil
        }
        var pieces: [String] = []
        for variable in variables {
            guard let value = values[variable.name], let piece = try form.expansion(of: value, for: variable) else { continue }
            pieces.append(piece)
        }
        return pieces.isEmpty ? nil : form.first + pieces.joined(separator: form.separator)
    }
}

extension TemplateOperator {
    init?(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "+"): self.init(first: "", separator: ",", keepsReserved: true)
        case UInt8(ascii: "#"): self.init(first: "#", separator: ",", keepsReserved: true)
        case UInt8(ascii: "."): self.init(first: ".", separator: ".")
        case UInt8(ascii: "/"): self.init(first: "/", separator: "/")
        case UInt8(ascii: ";"): self.init(first: ";", separator: ";", isNamed: true)
        case UInt8(ascii: "?"): self.init(first: "?", separator: "&", isNamed: true, ifEmpty: "=")
        case UInt8(ascii: "&"): self.init(first: "&", separator: "&", isNamed: true, ifEmpty: "=")
        default: return nil
        }
    }

    /// What a value comes to; nil when it is undefined.
    fileprivate func expansion(
        of value: URITemplateContent, for variable: TemplateVariable
    ) throws(TemplateProblem) -> String? {
        switch value {
        case .text(let text):
            let used = variable.prefix.map { String(String.UnicodeScalarView(text.unicodeScalars.prefix($0))) } ?? text
            return named(variable.name, encoded(used))
        case .list(let list):
            guard variable.prefix == nil else { throw .prefixOfSeveral(variable.name) }
            guard !list.isEmpty else { return nil }
            let members = list.map(encoded)
            guard variable.isExploded else { return named(variable.name, members.joined(separator: ",")) }
            return members.map { named(variable.name, $0) }.joined(separator: separator)
        case .pairs(let pairs):
            guard variable.prefix == nil else { throw .prefixOfSeveral(variable.name) }
            guard !pairs.isEmpty else { return nil }
            guard variable.isExploded else {
                let members = pairs.flatMap { [encoded($0.name), encoded($0.value)] }
                return named(variable.name, members.joined(separator: ","))
            }
            return pairs.map { pair in
                let (name, value) = (encoded(pair.name), encoded(pair.value))
                return isNamed && value.isEmpty ? name + ifEmpty : "\(name)=\(value)"
            }.joined(separator: separator)
        }
    }

    private func named(_ name: String, _ value: String) -> String {
        guard isNamed else { return value }
        return value.isEmpty ? name + ifEmpty : "\(name)=\(value)"
    }
}

extension String {
    /// The text with everything encoded that is neither unreserved, nor reserved, nor encoded already (RFC 6570 §3.1, §3.2.3).
    var templateLiteral: String { percentEncoded(exceptFor: .uri, escapes: true) }
}
