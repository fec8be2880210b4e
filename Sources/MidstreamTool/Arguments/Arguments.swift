import Foundation
import Midstream

/// The words of the command line, understood.
struct Arguments {
    enum Command { case help, version, request }

    private(set) var command = Command.request
    private(set) var method = HTTPMethod.get
    private(set) var url = ""
    private(set) var headers: HTTPHeaders = [:]
    private(set) var query: [(String, String)] = []
    private(set) var body = HTTPBody.empty
    private(set) var output: String?
    private(set) var isResumed = false
    private(set) var digest: ExpectedDigest?
    private(set) var includesHead = false
    private(set) var showsTrace = false
    private(set) var showsExplanation = false
    private(set) var showsCurlCommand = false
    private(set) var isVerbose = false
    private(set) var timeout: Duration?
    private(set) var deadline: Duration?
    private(set) var retries = 0
    private(set) var followsRedirects = true
    private(set) var isStandard = false
    private(set) var isHedged = false
    private(set) var identity = Identity.nobody
    private(set) var archive: String?
    private(set) var replay: String?
    private(set) var expectedStatus: Int?
    private(set) var checksStatus = false
    private(set) var format = OutputFormat()
    private(set) var transport = TransportOptions()

    private var words = Words([])
    private var source = ValueSource { Data() }
    private var givenMethod: String?
    private var others: [String] = []
    private var items = RequestItems()
    private var encoding = RequestItems.Encoding.json
    private var hasBody = false
    private var isDigest = false

    /// - Parameter standardInput: What is read for `@-`.
    init(
        _ words: some Sequence<String>,
        standardInput: @escaping @Sendable () throws -> Data = { try FileHandle.standardInput.readToEnd() ?? Data() }
    ) throws {
        self.words = Words(words)
        source = ValueSource(standardInput: standardInput)
        while let word = try self.words.next(takesValue: { Self.lettersWithValue.contains($0) }) {
            switch word {
            case .other(let word): others.append(word)
            case .option("-h"), .option("--help"):
                command = .help
                return
            case .option("--version"):
                command = .version
                return
            case .option(let option): try take(option: option)
            }
        }
        if digest != nil, output == nil { throw UsageError("--sha256 needs -o FILE") }
        if others == ["help"] {
            command = .help
            return
        }
        try chooseDigest()
        try takeOthers()
        if items.hasFields {
            guard !hasBody else { throw UsageError("a body is given by -d and --json, or by items, not by both") }
            body = try items.body(encoding)
            hasBody = true
        }
        method = HTTPMethod(rawValue: givenMethod?.uppercased() ?? (hasBody ? "POST" : "GET"))
    }

    /// The options of one letter that take a value.
    private static let lettersWithValue: Set<String> = ["-H", "-q", "-d", "-o", "-F", "-u", "-X"]

    // MARK: Words that are no options

    private mutating func takeOthers() throws {
        var others = others[...]
        if givenMethod == nil, others.count > 1, let first = others.first, isMethod(first, before: others.dropFirst()[1]) {
            givenMethod = others.removeFirst()
        }
        guard let word = others.popFirst(), givenMethod != nil || !Self.methods.contains(word.lowercased()) else {
            throw UsageError("a URL is needed, as in 'midst example.com'")
        }
        try take(url: source.text(word))
        for word in others {
            guard RequestItems.isItem(word) else { throw UsageError("one URL at a time: '\(url)' or '\(word)'?") }
            try items.add(word, &source)
        }
        for (name, value) in items.headers { headers.add(name, value) }
        query += items.query
    }

    private static let methods = ["get", "head", "post", "put", "patch", "delete", "options", "query", "trace"]

    /// Whether a word is a method: one that is known, or any other before what can only be a URL.
    private func isMethod(_ word: String, before next: String) -> Bool {
        if Self.methods.contains(word.lowercased()) { return true }
        let isName = word.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_".contains($0)) }
        return isName && (next.contains("://") || next.hasPrefix("@") || !RequestItems.isItem(next))
            && word.lowercased() != "localhost"
    }

    private mutating func take(url word: String) throws {
        guard !word.isEmpty else { throw UsageError("the URL is empty") }
        // What people type has no scheme; a host on this machine rarely speaks TLS.
        let isLocal = word.hasPrefix("localhost") || word.hasPrefix("127.") || word.hasPrefix("[::1]") || word.hasPrefix(":")
        let host = word.hasPrefix(":") ? "localhost\(word)" : word
        url = word.contains("://") ? word : (isLocal ? "http://" : "https://") + host
    }

    // MARK: Options

    private mutating func value(of option: String) throws -> String { try source.text(words.value(of: option)) }

    private mutating func take(option: String) throws {
        switch option {
        case "-X", "--request": givenMethod = try value(of: option)
        case "-H", "--header": try add(header: value(of: option))
        case "-q", "--query": try add(query: value(of: option))
        case "-d", "--data": try add(data: source.body(words.value(of: option)))
        case "--json":
            guard !hasBody else { throw UsageError(Self.oneBody) }
            body = try source.body(words.value(of: option)).withContentType("application/json")
            hasBody = true
        case "-f", "--form": encoding = .form
        case "-F", "--multipart":
            encoding = .multipart
            // A value may begin with @ here.
            try items.add(formField: words.value(of: option))
        default:
            guard try takeAnswer(option: option) || takeLimit(option: option) || takeIdentity(option: option) else {
                var connection = transport
                let found = try connection.take(option: option) { try value(of: option) }
                transport = connection
                guard found else { throw UsageError("unknown option \(option)") }
                return
            }
        }
    }

    private mutating func takeAnswer(option: String) throws -> Bool {
        switch option {
        case "-o", "--output": output = try value(of: option)
        case "-C", "--resume": isResumed = true
        case "--sha256":
            let text = try value(of: option)
            guard let expected = try? ExpectedDigest.sha256(hex: text) else {
                throw UsageError("--sha256 needs 64 hexadecimal digits")
            }
            digest = expected
        case "-i", "--include": includesHead = true
        case "-v", "--verbose": isVerbose = true
        case "--trace": showsTrace = true
        case "--explain": showsExplanation = true
        case "--curl": showsCurlCommand = true
        case "--har": archive = try value(of: option)
        case "--replay": replay = try value(of: option)
        case "--expect": expectedStatus = try Self.count(value(of: option), for: option)
        case "--check-status": checksStatus = true
        case "--color": format.color = .always
        case "--no-color": format.color = .never
        case "--raw": format.isRaw = true
        default: return false
        }
        return true
    }

    private mutating func takeLimit(option: String) throws -> Bool {
        switch option {
        case "--timeout": timeout = try Self.seconds(value(of: option), for: option)
        case "--deadline": deadline = try Self.seconds(value(of: option), for: option)
        case "--retries": retries = try Self.count(value(of: option), for: option)
        case "--no-redirects": followsRedirects = false
        case "--standard": isStandard = true
        case "--hedge": isHedged = true
        default: return false
        }
        return true
    }

    private mutating func takeIdentity(option: String) throws -> Bool {
        switch option {
        case "-u", "--user": try take(identity: .basic(Self.credentials(value(of: option))))
        case "--digest": isDigest = true
        case "--bearer": try take(identity: .bearer(value(of: option)))
        default: return false
        }
        return true
    }

    private mutating func take(identity: Identity) throws {
        guard case .nobody = self.identity else { throw UsageError("one of -u and --bearer, and once") }
        self.identity = identity
    }

    private mutating func chooseDigest() throws {
        guard isDigest else { return }
        guard case .basic(let credentials) = identity else { throw UsageError("--digest needs -u USER:PASSWORD") }
        identity = .digest(credentials)
    }

    private static func credentials(_ text: String) throws -> (user: String, password: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2 else {
            throw UsageError("user and password are written USER:PASSWORD; -u @FILE keeps them to yourself")
        }
        return (parts[0], parts[1])
    }

    private mutating func add(header: String) throws {
        let parts = header.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty else { throw UsageError("a header is written 'Name: value'") }
        headers.add(HTTPHeaders.Name(String(parts[0])), String(parts[1]))
    }

    private mutating func add(query item: String) throws {
        let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { throw UsageError("a query item is written NAME=VALUE") }
        query.append((String(parts[0]), String(parts[1])))
    }

    private static let oneBody = "one body at a time: only several -d are joined"

    /// Further data follow an `&`.
    private mutating func add(data: HTTPBody) throws {
        guard hasBody else {
            body = data
            hasBody = true
            return
        }
        guard body.contentType != "application/json" else { throw UsageError(Self.oneBody) }
        guard let first = body.bytes, let second = data.bytes else {
            throw UsageError("several -d are for text: a file is sent by itself")
        }
        body = .bytes(first + [UInt8(ascii: "&")] + second)
    }

    static func seconds(_ text: String, for option: String) throws -> Duration {
        guard let seconds = Double(text), seconds > 0, seconds.isFinite else {
            throw UsageError("\(option) needs a number of seconds above 0")
        }
        // A Duration has room for some 5e12 years; who wants as much as that wants no limit.
        return .seconds(min(seconds, 1e10))
    }

    private static func count(_ text: String, for option: String) throws -> Int {
        guard let count = Int(text), count >= 0 else { throw UsageError("\(option) needs a number, 0 or more") }
        return count
    }
}

/// Who asks.
enum Identity {
    case nobody
    case basic((user: String, password: String))
    case digest((user: String, password: String))
    case bearer(String)
}
