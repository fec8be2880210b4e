import Foundation

/// A file that holds users and passwords by host, as curl and ftp read it, but for passwords that begin as comments do.
struct Netrc {
    private var logins: [(host: String?, login: Identity.Login)] = []

    /// `NETRC` of the environment, or `~/.netrc`.
    static var usualPath: String {
        let environment = ProcessInfo.processInfo.environment
        return environment["NETRC"] ?? (environment["HOME"] ?? NSHomeDirectory()) + "/.netrc"
    }

    /// Reads a file that nobody else can read, wherever a link leads.
    init(contentsOf path: String) throws {
        let file = try ValueSource.opened(path)
        var status = stat()
        guard fstat(file.fileDescriptor, &status) == 0, status.st_mode & 0o077 == 0 else {
            throw UsageError("others can read the passwords in '\(path)': chmod 600 '\(path)'")
        }
        guard let data = try? file.readToEnd() ?? Data(), let text = String(data: data, encoding: .utf8) else {
            throw UsageError("'\(path)' isn't text in UTF-8")
        }
        self.init(text)
    }

    init(_ text: String) {
        var words = Self.words(text)[...]
        while let word = words.popFirst() {
            switch word {
            case "machine": logins.append((words.popFirst() ?? "", Identity.Login()))
            case "default": logins.append((nil, Identity.Login()))
            case "login", "password", "account":
                let value = words.popFirst() ?? ""
                guard let last = logins.indices.last else { break }
                if word == "login" { logins[last].login.user = value }
                if word == "password" { logins[last].login.password = value }
            default: break
            }
        }
    }

    func login(for host: String) -> Identity.Login? {
        logins.first { $0.host == nil || $0.host?.lowercased() == host.lowercased() }?.login
    }

    /// The words, those in quotation marks without these. Macros, which end at an empty line, and comments aren't among them; a value may
    /// begin as a comment does.
    private static func words(_ text: String) -> [String] {
        var words: [String] = []
        var isInMacro = false
        var isValue = false
        for line in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
            if isInMacro {
                isInMacro = !line.allSatisfy(\.isWhitespace)
                continue
            }
            var rest = line.drop(while: \.isWhitespace)
            while let first = rest.first, first != "#" || isValue {
                let word = first == "\"" ? quoted(&rest) : String(rest.prefix { !$0.isWhitespace })
                if first != "\"" { rest = rest.dropFirst(word.count) }
                rest = rest.drop(while: \.isWhitespace)
                if word == "macdef", !isValue {
                    isInMacro = true
                    break
                }
                words.append(word)
                isValue = !isValue && ["machine", "login", "password", "account"].contains(word)
            }
        }
        return words
    }

    private static func quoted(_ rest: inout Substring) -> String {
        var word = ""
        rest.removeFirst()
        while let character = rest.popFirst(), character != "\"" {
            word.append(character == "\\" ? rest.popFirst() ?? character : character)
        }
        return word
    }
}
