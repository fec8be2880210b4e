import Foundation
import Midstream

/// What `--expect` says of an answer's JSON: `json.items[0].name == "Ann"`, `json.count >= 3`, `json.id`.
struct Expectation: Sendable {
    private enum Step {
        case key(String)
        case place(Int)
    }

    private let text: String
    private let path: [Step]
    private let condition: (comparison: String, value: String)?

    init(_ text: String) throws {
        self.text = text
        let found = text.firstMatch(
            of: /^json((?:\.[^.\[\]\s=!<>~]+|\[\d+\]|\["[^"]*"\])*)\s*(?:(==|!=|<=|>=|<|>|~)\s*(.+?)\s*)?$/)
        guard let found else {
            throw UsageError(
                "--expect is a status, or written 'json.items[0].name == \"Ann\"', with == != < <= > >= ~ or nothing")
        }
        path = found.1.matches(of: /\.([^.\[]+)|\[(\d+)\]|\["([^"]*)"\]/).map { step in
            if let place = step.2 { .place(Int(place) ?? .max) } else { .key(String(step.1 ?? step.3 ?? "")) }
        }
        condition = found.2.map { (String($0), String(found.3 ?? "")) }
    }

    /// Why it doesn't hold for a body; nil: it does.
    func failure(in body: Data) -> String? {
        guard let whole = try? JSONSerialization.jsonObject(with: body, options: .fragmentsAllowed) else {
            return "the body isn't JSON, and \(text) was expected"
        }
        var value: Any? = whole
        for step in path {
            switch step {
            case .key(let key): value = (value as? [String: Any])?[key]
            case .place(let place): value = (value as? [Any]).flatMap { $0.indices.contains(place) ? $0[place] : nil }
            }
        }
        guard let condition else { return value == nil ? "\(text) was expected, and isn't there" : nil }
        let holds = Self.holds(value ?? NSNull(), condition.comparison, condition.value)
        return holds ? nil : "\(text) was expected, and it is \(value.map(Self.shown)?.escapingControls ?? "missing")"
    }

    private static func holds(_ value: Any, _ comparison: String, _ text: String) -> Bool {
        let wanted = (try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)) ?? text
        switch comparison {
        case "==": return isEqual(value, wanted)
        case "!=": return !isEqual(value, wanted)
        case "~":
            if let list = value as? [Any] { return list.contains { isEqual($0, wanted) } }
            return (value as? String)?.contains(wanted as? String ?? text) == true
        default:
            if let a = number(value), let b = number(wanted) { return isOrdered(a.compare(b).rawValue, comparison, 0) }
            if let a = value as? String, let b = wanted as? String { return isOrdered(a, comparison, b) }
            return false
        }
    }

    private static func isOrdered<Value: Comparable>(_ a: Value, _ comparison: String, _ b: Value) -> Bool {
        switch comparison {
        case "<": a < b
        case "<=": a <= b
        case ">": a > b
        default: a >= b
        }
    }

    /// Whole numbers with all of their digits, which a `Double` hasn't room for. `true` isn't 1.
    private static func number(_ value: Any) -> NSNumber? {
        guard let number = value as? NSNumber, !(value is Bool && shown(value).first?.isLetter == true) else { return nil }
        return number
    }

    private static func isEqual(_ a: Any, _ b: Any) -> Bool {
        if let a = number(a), let b = number(b) { return a.compare(b) == .orderedSame }
        return shown(a) == shown(b)
    }

    private static func shown(_ value: Any) -> String {
        let options: JSONSerialization.WritingOptions = [.fragmentsAllowed, .sortedKeys, .withoutEscapingSlashes]
        return (try? JSONSerialization.data(withJSONObject: value, options: options)).map { String(decoding: $0, as: UTF8.self) }
            ?? "\(value)"
    }
}
