import Foundation
import Midstream

/// The words of the command line, understood.
struct Arguments {
    enum Command: Equatable {
        case help, version, request
        /// Plays the calls of an archive, or sends them anew.
        case replay(file: String)
        /// Makes an archive whole that was cut off.
        case mend(file: String)
        /// Makes a page of an archive.
        case report(file: String)
        /// Sends the requests of a file, a line each.
        case batch(file: String)
        /// Simulates an outage of an archive's server.
        case simulate(file: String)
        /// Shows a command of curl's as one of this tool's.
        case fromCurl(String)
    }

    /// How the body is printed.
    enum Delivery { case asItComes, lines, events }

    var command = Command.request
    private(set) var method = HTTPMethod.get
    private(set) var url = ""
    private(set) var headers: HTTPHeaders = [:]
    private(set) var query: [(String, String)] = []
    private(set) var body = HTTPBody.empty
    private(set) var identity = Identity.nobody
    private(set) var digest: ExpectedDigest?
    var upload: String?
    var uploadProtocol = UploadProtocol.resumable
    var isCompressed = false
    var session: Session?
    var output: String?
    var isResumed = false
    var isSilent = false
    var includesHead = false
    var summary: SummaryFormat?
    var delivery = Delivery.asItComes
    /// The URL is a socket's.
    private(set) var isSocket = false
    var format = OutputFormat()
    var isVerbose = false
    var showsTrace = false
    var showsExplanation = false
    var showsCurlCommand = false
    var archive: String?
    var telemetry: String?
    var replay: String?
    var sendsAnew = false
    var expectedStatus: Int?
    var expectations: [Expectation] = []
    var jobs = 4
    var rate: Double?
    var slowness = 20.0
    var outage = 10
    var checksStatus = false
    var timeout: Duration?
    var deadline: Duration?
    var givenRetries: Int?
    var followsRedirects = true
    var isStandard = false
    var isHedged = false
    var transport = TransportOptions()

    // What is put together when all words are read.
    var givenMethod: String?
    var items = RequestItems()
    var encoding = RequestItems.Encoding.json
    var user: String?
    var isDigest = false
    var bearer: String?
    var netrc: String?
    private var signature: (region: String, service: String)?
    private var others: [String] = []
    /// The first name of each option that was used.
    private var given: [String] = []
    private var hasBody = false
    private var source: ValueSource

    /// As many as `Resilience.standard` has by itself, where none are given.
    var retries: Int { givenRetries ?? (isStandard ? 3 : 0) }
    /// Of a file or of standard input, which is a body like any other.
    var isUpload: Bool { given.contains("-T") }

    /// - Parameter standardInput: What is read for `@-`.
    init(_ words: some Sequence<String>, standardInput: FileHandle = .standardInput) throws {
        source = ValueSource(standardInput: standardInput)
        var words = Words(words)
        while let word = try words.next(takesValue: { Option.named($0)?.placeholder != nil }) {
            switch word {
            case .other(let word): others.append(word)
            case .option(let name):
                guard let option = Option.named(name) else { throw UsageError("unknown option \(name)") }
                var value = ""
                if option.placeholder != nil {
                    value = try words.value(of: name)
                    if !option.takesValueAsTyped { value = try source.text(value) }
                }
                given += option.names.prefix(1)
                try option.apply(&self, value)
                if command != .request { return }
            }
        }
        if others == ["help"] {
            command = .help
            return
        }
        try complete()
    }

    private mutating func complete() throws {
        if digest != nil, output == nil { throw UsageError("--sha256 needs -o FILE") }
        if delivery == .events, !expectations.isEmpty { throw UsageError("--expect json… is for an answer, not for --sse") }
        if delivery == .events { try refuseFile(for: "--sse") }
        if try takeCommand() { return }
        guard jobs == 4, rate == nil, slowness == 20, outage == 10 else {
            throw UsageError("--jobs, --rate, --slower and --for are for 'midst batch' and 'midst simulate'")
        }
        guard !sendsAnew else { throw UsageError("--send is for 'midst replay FILE'") }
        try takeOthers()
        if isSocket { try refuseFile(for: "'midst ws'") }
        try completeBody()
        identity = try Identity(
            user: user, bearer: bearer, isDigest: isDigest, signature: signature, netrc: netrc, host: URL(string: url)?.host)
        let usual = upload != nil ? "PUT" : hasBody ? "POST" : "GET"
        method = Self.method(named: givenMethod ?? usual)
    }

    /// A file is replaced by an answer that ends.
    private func refuseFile(for command: String) throws {
        guard output == nil || output == "-" else { throw UsageError("-o FILE is for an answer, not for \(command)") }
    }

    private mutating func completeBody() throws {
        if items.hasFields {
            guard !hasBody else { throw UsageError("a body is given by -d and --json, or by items, not by both") }
            body = try items.body(encoding)
            hasBody = true
            let form = "multipart/form-data"
            if let given = headers[.contentType], let own = body.contentType, own.hasPrefix(form),
                given.lowercased().hasPrefix("multipart/"), !given.lowercased().contains("boundary=")
            {
                // Only the body's own has its boundary.
                headers[.contentType] = given + own.dropFirst(form.count)
            }
        }
        guard let upload else { return }
        guard !hasBody else { throw UsageError("-T is a body of its own") }
        guard upload != "-" else {
            body = try source.body("@-")
            self.upload = nil
            givenMethod = givenMethod ?? "PUT"
            return
        }
        _ = try ValueSource.readable(upload)
    }

    // MARK: Words that are no options

    private mutating func takeCommand() throws -> Bool {
        switch (others.first ?? "", others.count) {
        case ("replay", 2):
            try refuse(Option.ofARequest.union(["-C", "--sha256"]), for: "midst replay")
            command = .replay(file: others[1])
        case ("har", 3) where others[1] == "mend": command = .mend(file: others[2])
        case ("report", 2): command = .report(file: others[1])
        case ("batch", ...2):
            try refuse(Option.ofOneRequest, for: "midst batch")
            command = .batch(file: others.count == 2 ? others[1] : "-")
        case ("simulate", 2): command = .simulate(file: others[1])
        case ("from-curl", 2): command = .fromCurl(others[1])
        case ("ws", 2...):
            others.removeFirst()
            isSocket = true
        case (let name, _):
            guard givenMethod == nil, let words = Self.wordsOfCommands[name] else { break }
            throw UsageError("the command is 'midst \(name) \(words)'; a host of that name is asked by https://\(name)")
        }
        return command != .request
    }

    /// What has to stand behind their names.
    private static let wordsOfCommands = [
        "replay": "FILE", "har": "mend FILE", "report": "FILE", "batch": "[FILE]", "simulate": "FILE", "from-curl": "\"curl …\"",
        "ws": "URL",
    ]

    /// Refuses options that have no meaning for a command's many requests, and credentials, which go to the origin of one URL.
    private func refuse(_ options: Set<String>, for command: String) throws {
        guard user == nil, bearer == nil, netrc == nil, signature == nil, !isDigest else {
            throw UsageError("'\(command)' takes credentials as header fields (-H)")
        }
        if let name = given.first(where: { options.contains($0) }) {
            throw UsageError("\(name) is for one request, not for '\(command)'")
        }
    }

    private mutating func takeOthers() throws {
        var others = others[...]
        if givenMethod == nil, let first = others.first, let next = others.dropFirst().first, isMethod(first, before: next) {
            givenMethod = others.removeFirst().uppercased()
        }
        guard let word = others.popFirst(), givenMethod != nil || !Self.methods.contains(word.lowercased()) else {
            throw UsageError("a URL is needed, as in 'midst example.com'")
        }
        try take(url: source.text(word))
        for word in others {
            guard RequestItems.isItem(word), !URLText(word).isAbsolute else {
                throw UsageError("one URL at a time: '\(URLText.redacted(url))' or '\(URLText.redacted(word))'?")
            }
            try items.add(word, &source)
        }
        for (name, value) in items.headers { headers.add(name, value) }
        query += items.query
    }

    private static let methods = ["get", "head", "post", "put", "patch", "delete", "options", "query", "trace"]

    /// The method of a name. Only known ones may be written in small letters: case matters to servers (RFC 9110 §9.1).
    static func method(named name: String) -> HTTPMethod {
        HTTPMethod(rawValue: methods.contains(name.lowercased()) ? name.uppercased() : name)
    }

    /// Whether a word is a method: one that is known, or any other before what can only be a URL.
    private func isMethod(_ word: String, before next: String) -> Bool {
        if Self.methods.contains(word.lowercased()) { return true }
        let isName = word.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_".contains($0)) }
        return isName && (URLText(next).isAbsolute || next.hasPrefix("@") || !RequestItems.isItem(next))
            && word.lowercased() != "localhost"
    }

    private mutating func take(url word: String) throws {
        guard !word.isEmpty else { throw UsageError("the URL is empty") }
        // What people type has no scheme; a host on this machine rarely speaks TLS.
        let text = word.hasPrefix(":") ? "localhost\(word)" : word
        url = URLText(text).isAbsolute ? text : (Self.isLocal(text) ? "http://" : "https://") + text
        // So that `--curl` shows a ws URL.
        let scheme = url.prefix { $0 != ":" }.lowercased()
        let socketScheme = ["http": "ws", "https": "wss"][scheme]
        if isSocket, let socketScheme { url = socketScheme + url.dropFirst(scheme.count) }
    }

    /// Whether the host of a URL without scheme is this machine, by its name or its address.
    private static func isLocal(_ url: String) -> Bool {
        let host = URLText("//" + url).host?.lowercased() ?? ""
        return host == "localhost" || host == "[::1]" || host.hasPrefix("127.") && host.allSatisfy { "0123456789.".contains($0) }
    }
}

// MARK: What options do

extension Arguments {
    mutating func add(header: String) throws {
        let parts = header.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty else { throw UsageError("a header is written 'Name: value'") }
        headers.add(HTTPHeaders.Name(String(parts[0])), String(parts[1]))
    }

    mutating func add(query item: String) throws {
        let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { throw UsageError("a query item is written NAME=VALUE") }
        query.append((String(parts[0]), String(parts[1])))
    }

    mutating func add(digest text: String) throws {
        guard let expected = try? ExpectedDigest.sha256(hex: text) else {
            throw UsageError("--sha256 needs 64 hexadecimal digits")
        }
        digest = expected
    }

    /// As curl has it, `aws:amz:REGION:SERVICE`, or without its beginning.
    mutating func add(signature text: String) throws {
        let parts = text.split(separator: ":").map(String.init)
        guard parts.count == (parts.starts(with: ["aws", "amz"]) ? 4 : 2) else {
            throw UsageError("--aws-sigv4 is written REGION:SERVICE, such as us-east-1:s3")
        }
        signature = (parts[parts.count - 2], parts[parts.count - 1])
    }

    private static let oneBody = "one body at a time: only several -d are joined"

    mutating func set(json text: String) throws {
        guard !hasBody else { throw UsageError(Self.oneBody) }
        body = try source.body(text).withContentType("application/json")
        hasBody = true
    }

    /// Further data follow an `&`.
    mutating func add(data text: String) throws {
        let data = try source.body(text)
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

    /// A status, or what the body has to say.
    mutating func add(expectation text: String) throws {
        if text.allSatisfy(\.isNumber) {
            expectedStatus = try Self.count(text, for: "--expect")
        } else {
            expectations.append(try Expectation(text))
        }
    }

    static func number(_ text: String, for option: String, of unit: String = "") throws -> Double {
        guard let number = Double(text), number > 0, number.isFinite else {
            throw UsageError("\(option) needs a number \(unit)above 0")
        }
        return number
    }

    static func seconds(_ text: String, for option: String) throws -> Duration {
        // A Duration has room for some 5e12 years; who wants as much as that wants no limit.
        try .seconds(min(number(text, for: option, of: "of seconds "), 1e10))
    }

    static func count(_ text: String, for option: String, in range: ClosedRange<Int> = 0 ... .max) throws -> Int {
        guard let count = Int(text), range.contains(count) else {
            let end = range.upperBound == .max ? "on" : "to \(range.upperBound)"
            throw UsageError("\(option) needs a number from \(range.lowerBound) \(end)")
        }
        return count
    }
}
