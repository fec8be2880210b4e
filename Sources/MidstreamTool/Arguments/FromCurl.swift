import Foundation
import Midstream

/// A command line of curl's as one of midst's: `midst from-curl 'curl …'`.
enum FromCurl {
    /// The same request by midst, as a shell reads it.
    static func command(_ text: String) throws -> String {
        let typed = try ShellWords.split(text)
        // A shell ends the word there.
        guard !typed.contains(where: { $0.utf8.contains(0) }) else {
            throw UsageError("no word of a command can hold a NUL: give the body by --data-binary @FILE")
        }
        var words = Words(typed.drop { $0 == "curl" })
        var request = Request()
        while let word = try words.next(takesValue: { curlOptions[$0]?.takesValue ?? true }) {
            switch word {
            case .other(let url): request.urls.append(url)
            case .option(let name):
                guard let known = curlOptions[name] else {
                    throw UsageError("midst has nothing for curl's \(name.escapingControls)")
                }
                try request.take(known, known.takesValue ? words.value(of: name) : "")
            }
        }
        return try request.words().map(\.shellQuoted).joined(separator: " ")
    }

    /// What the words of curl ask for.
    private struct Request {
        var urls: [String] = []
        private var options: [String] = []
        private var data: [String] = []
        private var cookies: [String] = []
        /// Fields that curl adds, unless `-H` names them.
        private var added: [(name: String, value: String)] = []
        /// The names that `-H` has, in small letters.
        private var names: Set<String> = []
        private var contentType = ""
        private var upload: String?
        private var output: String?
        /// The longest time that an attempt may take.
        private var limit: String?
        private var isRetried = false
        private var includesHead = false
        /// Whether there is a body that no `-G` makes a query of.
        private var hasBody = false
        private var follows = false
        private var isGet = false
        /// Whether brackets and braces of the URL stand for themselves.
        private var isLiteral = false
        private var isDecoded = false
        /// The encodings that `-H` asks for.
        private var encodings: [String] = []
        private var losesLines = false

        mutating func take(_ option: Meaning, _ value: String) throws {
            switch option {
            case .ignored: break
            case .url: urls.append(value)
            case .follow: follows = true
            case .get: isGet = true
            case .literal: isLiteral = true
            case .compressed: isDecoded = true
            case .include: includesHead = true
            case .head:
                includesHead = true
                options.insert("-Xhead", at: 0)
            case .flag(let flag): options.append(flag)
            case .value(let option):
                // A file has the format for both.
                guard option == "-w" || !value.hasPrefix("@") else {
                    throw UsageError("midst reads a file where the value of \(option) begins with @")
                }
                if option == "-o" { output = value }
                if option == "--retries" { isRetried = value != "0" }
                options += [option, value]
            case .limit: limit = Double(value) == 0 ? nil : value
            // An empty one keeps curl from the environment's, which midst doesn't read.
            case .proxy where value.isEmpty: break
            case .proxy: options += ["-x", withScheme(value)]
            case .header: try take(header: value)
            case .json:
                add("Accept", "application/json")
                hasBody = true
                options += ["--json", value]
            case .upload:
                upload = value
                hasBody = true
                options += ["-T", value]
            case .cookie:
                guard value.contains("=") else { throw UsageError("midst has --session for curl's -b FILE") }
                cookies.append(value)
            case .field(let field): add(field, value)
            case .signature:
                let parts = value.split(separator: ":")
                guard parts.count == 4, parts.starts(with: ["aws", "amz"]) else {
                    throw UsageError("midst needs the region and the service of curl's --aws-sigv4: aws:amz:REGION:SERVICE")
                }
                options += ["--aws-sigv4", "\(parts[2]):\(parts[3])"]
            case .raw where value.hasPrefix("@"): throw UsageError("a body that begins with @ has to come from a file")
            case .raw, .binary: data.append(value)
            case .data:
                if value.hasPrefix("@") { losesLines = true }
                data.append(value)
            case .encoded: data.append(try encoded(value))
            case .part:
                // What midst takes has the same meaning to it.
                _ = try FormField(value)
                hasBody = true
                options += ["-F", value]
            }
        }

        private mutating func take(header text: String) throws {
            let name = text.prefix { !":;".contains($0) }.lowercased()
            names.insert(name)
            if name == "content-type" {
                let type = text.drop { $0 != ":" }.dropFirst().prefix { $0 != ";" }
                contentType = type.trimmingCharacters(in: .whitespaces).lowercased()
            }
            let field = header(text)
            guard !field.isEmpty || !Self.alwaysSent.contains(name) else { throw UsageError("midst always sends \(name)") }
            if name == "accept-encoding" { encodings += field } else { options += field }
        }

        private static let alwaysSent: Set = ["accept", "accept-encoding", "host", "user-agent"]

        private mutating func add(_ name: String, _ value: String) {
            added.removeAll { $0.name == name }
            added.append((name, value))
        }

        /// Those of midst, when all of curl's are read.
        mutating func words() throws -> [String] {
            guard !urls.contains(where: { $0.hasPrefix("^") }) else { throw ShellWords.forWindows }
            guard let given = urls.first, urls.count == 1 else { throw UsageError("a curl command with one URL is needed") }
            var url = try isLiteral ? withScheme(given) : withoutPatterns(withScheme(given))
            if isGet {
                guard !hasBody else { throw UsageError("midst makes no query of --json, -F and -T, beside which curl has -G") }
                guard !data.contains(where: { $0.hasPrefix("@") }) else {
                    throw UsageError("midst has nothing for a query in a file")
                }
                // It is encoded already.
                if !data.isEmpty { url = URLText.adding(query: data.joined(separator: "&"), to: url) }
            } else if !data.isEmpty {
                guard !losesLines || contentType == "application/json" || contentType.hasSuffix("+json") else {
                    throw UsageError("midst keeps the line ends of a file, which curl's -d leaves out and --data-binary keeps")
                }
                for data in data { options += ["-d", data] }
                add("Content-Type", "application/x-www-form-urlencoded")
            }
            add("Cookie", cookies.joined(separator: "; "))
            for (name, value) in added where !names.contains(name.lowercased()) {
                guard !value.isEmpty || name != "User-Agent" else { throw UsageError("midst always sends a User-Agent") }
                if !value.isEmpty { options += ["-H", "\(name): \(value)"] }
            }
            if includesHead {
                // curl writes the head where the body goes; midst prints it.
                switch output {
                case nil, "-": options.append("-i")
                case "/dev/null": break
                default: throw UsageError("midst writes no head to a file, as curl does by -i or -I with -o")
                }
            }
            // midst decodes what it asks for itself.
            if !isDecoded { options += encodings }
            if !follows { options.append("--no-redirects") }
            // To curl it counts anew with each retry.
            if let limit { options += [isRetried ? "--timeout" : "-m", limit] }
            if let upload { url = target(of: upload, at: url) }
            let isSocket = ["ws", "wss"].contains(url.prefix { $0 != ":" }.lowercased())
            return ["midst"] + (isSocket ? ["ws"] : []) + [url] + options
        }
    }

    /// A URL whose scheme may be missing.
    private static func withScheme(_ url: String) -> String { URLText(url).isAbsolute ? url : "http://\(url)" }

    /// The one URL of a pattern: brackets and braces make several, unless a `\` stands before each, as browsers write it.
    private static func withoutPatterns(_ url: String) throws -> String {
        let escaped = /\\([\[\]{}])/
        // To curl, empty brackets are none of a pattern.
        let others = URLText(url.replacing(escaped, with: "").replacing("[]", with: ""))
        guard !"\(others.path)?\(others.query ?? "")".contains(where: { "[]{}".contains($0) }) else {
            throw UsageError("midst has one URL where curl has a pattern by [] or {}")
        }
        return url.replacing(escaped) { $0.output.1 }
    }

    /// `Name: value`, `Name;` for a field without a value, or `Name:` for one that isn't sent.
    private static func header(_ text: String) -> [String] {
        guard let colon = text.firstIndex(of: ":") else { return ["-H", text.hasSuffix(";") ? "\(text.dropLast()):" : text] }
        return text[text.index(after: colon)...].allSatisfy(\.isWhitespace) ? [] : ["-H", text]
    }

    /// Where curl puts a file: below a URL that ends with a folder.
    private static func target(of file: String, at url: String) -> String {
        guard file != "-", file != ".", !url.contains(where: { "?#".contains($0) }) else { return url }
        let hasPath = url.drop { $0 != "/" }.dropFirst(2).contains("/")
        guard url.hasSuffix("/") || !hasPath, let name = file.split(separator: "/").last else { return url }
        return url + (hasPath ? "" : "/") + String(name).percentEncoded
    }

    /// `content`, `=content` or `name=content`, of which the content is encoded.
    private static func encoded(_ value: String) throws -> String {
        let end = value.firstIndex { "=@".contains($0) }
        guard end.map({ value[$0] != "@" }) ?? true else {
            throw UsageError("midst has nothing for a file in curl's --data-urlencode")
        }
        let content = end.map { value[value.index(after: $0)...] } ?? value[...]
        let name = end.map { $0 == value.startIndex ? "" : value[...$0] } ?? ""
        return name + String(content).percentEncoded
    }

    private enum Meaning {
        case ignored, url, literal, compressed, follow, get, head, include, signature, encoded, part, header, cookie, json
        case upload, proxy, limit
        /// Of a file it is sent without its line ends; a file as it is; no file.
        case data, binary, raw
        case flag(String)
        case value(String)
        case field(String)

        var takesValue: Bool {
            switch self {
            case .ignored, .literal, .compressed, .follow, .get, .head, .include, .flag: false
            default: true
            }
        }
    }

    private static let curlOptions: [String: Meaning] = Dictionary(
        ([
            ("-X --request", .value("-X")), ("-H --header", .header), ("--json", .json),
            ("-F --form", .part), ("--data-urlencode", .encoded),
            ("-d --data --data-ascii", .data), ("--data-binary", .binary), ("--data-raw", .raw),
            ("-G --get", .get), ("-g --globoff", .literal), ("--compressed", .compressed),
            ("-T --upload-file", .upload), ("-u --user", .value("-u")), ("--oauth2-bearer", .value("--bearer")),
            ("--digest", .flag("--digest")), ("--aws-sigv4", .signature), ("-n --netrc", .flag("-n")),
            ("--netrc-file", .value("--netrc-file")), ("-A --user-agent", .field("User-Agent")),
            ("-e --referer", .field("Referer")),
            ("-b --cookie", .cookie), ("-I --head", .head), ("-L --location", .follow), ("--url", .url),
            ("-o --output", .value("-o")), ("-i --include", .include), ("-v --verbose", .flag("-v")),
            ("-s --silent", .flag("-s")),
            ("-w --write-out", .value("-w")), ("-m --max-time", .limit),
            ("--connect-timeout", .value("--connect-timeout")), ("--retry", .value("--retries")), ("-k --insecure", .flag("-k")),
            ("-x --proxy", .proxy), ("--cacert", .value("--ca")), ("-E --cert", .value("--cert")),
            ("--key", .value("--key")),
            ("--resolve", .value("--resolve")), ("--unix-socket", .value("--unix-socket")), ("--http1.1", .flag("--http1.1")),
            ("--http2-prior-knowledge", .flag("--http2")), ("--http3", .flag("--http3")),
            ("-f --fail --http2 -S --show-error -N --no-buffer --basic --path-as-is", .ignored),
        ] as [(String, Meaning)]).flatMap { names, meaning in names.split(separator: " ").map { (String($0), meaning) } },
        uniquingKeysWith: { first, _ in first })
}
