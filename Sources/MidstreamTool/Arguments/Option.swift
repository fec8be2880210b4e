import Foundation

/// An option of the command line: how it is written, what the help says of it, and what it does.
struct Option: Sendable {
    typealias Effect = @Sendable (inout Arguments, String) throws -> Void

    /// All ways to write it.
    let names: [String]
    /// What its value is called in the help; nil: it takes none.
    let placeholder: String?
    let help: String
    /// Whether its value is taken as it was typed; otherwise `@FILE` is read.
    let takesValueAsTyped: Bool
    let apply: Effect

    private init(_ names: String, _ placeholder: String?, _ help: String, isTyped: Bool, _ apply: @escaping Effect) {
        self.names = names.split(separator: ", ").map(String.init)
        self.placeholder = placeholder
        self.help = help
        takesValueAsTyped = isTyped
        self.apply = apply
    }

    static func flag(
        _ names: String, _ help: String, _ apply: @escaping @Sendable (inout Arguments) throws -> Void
    ) -> Option {
        Option(names, nil, help, isTyped: true) { arguments, _ in try apply(&arguments) }
    }

    static func value(_ names: String, _ placeholder: String, _ help: String, _ apply: @escaping Effect) -> Option {
        Option(names, placeholder, help, isTyped: false, apply)
    }

    static func typedValue(_ names: String, _ placeholder: String, _ help: String, _ apply: @escaping Effect) -> Option {
        Option(names, placeholder, help, isTyped: true, apply)
    }

    static func named(_ name: String) -> Option? { byName[name] }

    private static let byName = Dictionary(
        all.flatMap { option in option.names.map { ($0, option) } }, uniquingKeysWith: { first, _ in first })

    /// A line of the help.
    var line: String {
        let isLong = names.first?.hasPrefix("--") == true
        let usage = "  " + (isLong ? "    " : "") + names.joined(separator: ", ") + (placeholder.map { " \($0)" } ?? "")
        return usage.padding(toLength: max(38, usage.count + 2), withPad: " ", startingAt: 0) + help
    }
}
