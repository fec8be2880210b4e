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
    private(set) var includesHead = false
    private(set) var showsTrace = false
    private(set) var showsExplanation = false
    private(set) var showsCurlCommand = false
    private(set) var isVerbose = false
    private(set) var timeout: Duration?
    private(set) var deadline: Duration?
    private(set) var retries = 0
    private(set) var followsRedirects = true
    private(set) var transport = TransportOptions()

    static let versionNumber = "0.1.0"

    static let help = """
        usage: midst METHOD URL [options]

        METHOD is get, head, post, put, patch, delete, options or any other method.

          -H, --header 'NAME: VALUE'   add a header field; may be repeated
          -q, --query NAME=VALUE       add a query item; may be repeated
          -d, --data TEXT              send this body
              --json TEXT              the same, as application/json
          -o, --output FILE            write the response's body to a file
          -i, --include                print the response's head before the body
          -v, --verbose                print what goes on the wire and comes back; secrets withheld
              --trace                  show the pipeline, stage by stage, with times
              --explain                show what would be sent, and send nothing
              --curl                   show the same request as a curl command, and send nothing
              --timeout SECONDS        limit one attempt (60)
              --deadline SECONDS       limit the whole call
              --retries N              retry up to N times (0)
              --no-redirects           don't follow redirects
              --ca FILE                trust the authorities in this file, too (PEM)
              --insecure               don't check certificates
              --proxy URL              go through this proxy (http://… or socks5://…)
              --unix-socket PATH       connect to this socket
              --transport NAME         curl (on Linux) or urlsession
              --version, --help

        The URL and any value may be @FILE, which is read, or once @-, which is standard input:
        arguments can be seen by other users, so give secrets in this way.

        Exit status: 0 a response below 400, 1 another response or none, 2 wrong usage.
        """

    /// - Parameter standardInput: What is read for `@-`.
    init(
        _ words: some Sequence<String>,
        standardInput: @escaping () throws -> Data = { try FileHandle.standardInput.readToEnd() ?? Data() }
    ) throws {
        var words = Array(words)[...]
        var source = ValueSource(standardInput: standardInput)
        guard let first = words.popFirst() else { throw UsageError("a method and a URL are needed") }
        switch first {
        case "--help", "-h", "help":
            command = .help
            return
        case "--version":
            command = .version
            return
        default:
            guard !first.hasPrefix("-") else { throw UsageError("the method comes first, such as 'midst get URL'") }
            method = HTTPMethod(rawValue: first.uppercased())
        }
        while let word = words.popFirst() {
            if word.hasPrefix("-"), word != "-" {
                try take(option: word, from: &words, &source)
            } else {
                try take(url: source.text(word))
            }
        }
        guard !url.isEmpty else { throw UsageError("a URL is needed") }
    }

    private mutating func take(url word: String) throws {
        guard url.isEmpty else { throw UsageError("one URL at a time: '\(url)' or '\(word)'?") }
        // What people type has no scheme; a host on this machine rarely speaks TLS.
        let isLocal = word.hasPrefix("localhost") || word.hasPrefix("127.") || word.hasPrefix("[::1]") || word.hasPrefix(":")
        let host = word.hasPrefix(":") ? "localhost\(word)" : word
        url = word.contains("://") ? word : (isLocal ? "http://" : "https://") + host
    }

    private mutating func take(option: String, from words: inout ArraySlice<String>, _ source: inout ValueSource) throws {
        func word() throws -> String {
            guard let word = words.popFirst() else { throw UsageError("\(option) needs a value") }
            return word
        }
        func value() throws -> String { try source.text(word()) }
        switch option {
        case "-H", "--header": try add(header: value())
        case "-q", "--query": try add(query: value())
        case "-d", "--data": body = try source.body(word())
        case "--json": body = try source.body(word()).withContentType("application/json")
        case "-o", "--output": output = try value()
        case "-i", "--include": includesHead = true
        case "-v", "--verbose": isVerbose = true
        case "--trace": showsTrace = true
        case "--explain": showsExplanation = true
        case "--curl": showsCurlCommand = true
        case "--timeout": timeout = try Self.seconds(value(), for: option)
        case "--deadline": deadline = try Self.seconds(value(), for: option)
        case "--retries": retries = try Self.count(value(), for: option)
        case "--no-redirects": followsRedirects = false
        default:
            guard try transport.take(option: option, value: value) else { throw UsageError("unknown option \(option)") }
        }
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

    private static func seconds(_ text: String, for option: String) throws -> Duration {
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
