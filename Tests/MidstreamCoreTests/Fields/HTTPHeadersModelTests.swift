@testable import MidstreamCore
import TestSupport
import Testing

/// Headers as a plain list, slow and plainly right.
private struct Model {
    var fields: [(name: String, value: String)] = []

    mutating func add(_ name: String, _ value: String) { fields.append((name, value)) }

    mutating func remove(_ name: String) { fields.removeAll { $0.name.lowercased() == name.lowercased() } }

    mutating func set(_ name: String, _ value: String) {
        guard let first = fields.firstIndex(where: { $0.name.lowercased() == name.lowercased() }) else {
            return add(name, value)
        }
        let before = fields[..<first]
        let after = fields[(first + 1)...].filter { $0.name.lowercased() != name.lowercased() }
        fields = before + [(name, value)] + after
    }

    func values(_ name: String) -> [String] { fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value) }
}

@Suite("Headers against a model")
struct HTTPHeadersModelTests {
    @Test("any sequence of operations leaves what the model has, with few fields and with many", arguments: 0..<20, [0, 200])
    func randomOperations(seed: Int, more: Int) {
        var random = Search.numbers(seed)
        let names = ["A", "a", "B", "Bb", "bB", "Content-Type", "content-type", "X"]
        let values = ["", "1", "two", "a: b", "x,y", "grün", "last value"]
        var (headers, model) = (HTTPHeaders(), Model())
        for number in 0..<more {
            headers[.init("X-\(number)-of-many-fields")] = "value"
            model.set("X-\(number)-of-many-fields", "value")
        }
        var defaults: HTTPHeaders = ["x-7-of-many-fields": "other", "Bb": "default"]
        if more > 0 {
            // A copy without fields takes over all of another, and goes on by itself.
            defaults.merge(defaults: headers)
            var merged = HTTPHeaders()
            merged.merge(defaults: defaults)
            for name in ["bb", "b", "X-8-OF-many-fields"] as [HTTPHeaders.Name] { merged[name] = "1" }
            #expect(merged.count == more + 2 && merged.values("Bb") == ["1"] && merged.values("x-8-of-many-fields") == ["1"])
            #expect(headers.values("x-8-of-many-fields") == ["value"])
            // Marks and refusals leave names findable, and copies apart.
            var marked = merged
            marked.markSensitive("B")
            marked["Y"] = "a\nb"
            marked["Z"] = "1"
            marked["z"] = "2"
            #expect(marked.values("Z") == ["2"] && !merged.contains("Z") && !merged.isSensitive("B"))
            #expect(marked.isSensitive("b") && marked.refused == ["Y"] && merged.refused.isEmpty)
        }
        for _ in 0..<(more > 0 ? 30 : 300) {
            let name = names.randomElement(using: &random) ?? ""
            let value = values.randomElement(using: &random) ?? ""
            switch Int.random(in: 0..<7, using: &random) {
            case 0, 1:
                headers.add(.init(name), value)
                model.add(name, value)
            case 2, 3:
                headers[.init(name)] = value
                model.set(name, value)
            case 4:
                headers.remove(.init(name))
                model.remove(name)
            case 5:
                headers.removeAll { $0 == .init(name) || $0 == "X" }
                model.remove(name)
                model.remove("X")
            default:
                headers.markSensitive("X")
                headers.add("refused\n", value)
            }
            #expect(headers.map { "\($0.name): \($0.value)" } == model.fields.map { "\($0.name): \($0.value)" })
            #expect(headers.count == model.fields.count)
            let isSame = names.allSatisfy { name in
                let values = model.values(name)
                return headers.values(.init(name)) == values && headers.contains(.init(name)) == !values.isEmpty
                    && headers[.init(name)] == (values.isEmpty ? nil : values.joined(separator: ", "))
            }
            #expect(isSame)
        }
    }
}
