import Midstream

/// The words of a command line, taken one by one.
struct Words {
    private var rest: ArraySlice<String>
    /// What stands behind `=` in `--option=value`, until it is taken.
    private var attached: String?
    private var isPastOptions = false

    init(_ words: some Sequence<String>) { rest = Array(words)[...] }

    enum Word: Equatable {
        /// As it is listed: `--timeout`, `-v`.
        case option(String)
        case other(String)
    }

    /// The next word. `-vi` is `-v` and `-i`, `--timeout=3` is `--timeout` with a value, and behind `--` there are no options.
    ///
    /// - Parameter takesValue: Whether an option of one letter takes the rest of the word as its value.
    mutating func next(takesValue: (String) -> Bool) throws -> Word? {
        if let attached { throw UsageError("an option that takes no value was given '\(attached.escapingControls)'") }
        guard let word = rest.popFirst() else { return nil }
        guard !isPastOptions, word.hasPrefix("-"), word != "-" else { return .other(word) }
        if word == "--" {
            isPastOptions = true
            return try next(takesValue: takesValue)
        }
        if word.hasPrefix("--") {
            guard let equals = word.firstIndex(of: "=") else { return .option(word) }
            attached = String(word[word.index(after: equals)...])
            return .option(String(word[..<equals]))
        }
        let (option, more) = (String(word.prefix(2)), word.dropFirst(2))
        if !more.isEmpty {
            if takesValue(option) { attached = String(more) } else { rest = ["-\(more)"] + rest }
        }
        return .option(option)
    }

    mutating func value(of option: String) throws -> String {
        if let attached {
            self.attached = nil
            return attached
        }
        guard let word = rest.popFirst() else { throw UsageError("\(option) needs a value") }
        return word
    }
}
