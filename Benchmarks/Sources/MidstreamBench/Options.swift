/// What the command line says.
struct Options: Sendable {
    enum Mode: String, CaseIterable {
        /// A transport with a loop, without a client; the body is collected from the stream.
        case transport
        /// The client on a transport with a loop.
        case client
        /// The client on URLSession, as on Apple's platforms.
        case urlsession
        /// One response of any size, streamed.
        case download
        /// A body of any size, made while it is sent.
        case upload
        /// The client on a transport that answers at once: the pipeline alone.
        case stub
        /// Copying a request and changing the copy.
        case copy
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    enum Loop: String { case wire, curl }

    var mode = Mode.client
    /// What moves the bytes.
    var loop = Loop.wire
    var url = "http://127.0.0.1/"
    var authorities: String?
    var isHTTP2 = false
    var requests = 10_000
    var inFlight = 64
    var interceptors = 0
    /// Further interceptors, by their names.
    var parts: [String] = []
    /// How many mebibytes a request of ``Mode/upload`` sends.
    var upload = 1
    /// Whether it is a file.
    var uploadsFile = false
    var method = "GET"
    /// Whether each request of ``Mode/stub`` has a URL of its own.
    var isDistinct = false
    /// Whether the tasks run on the transport's own thread.
    var runsOnLoop = false
    /// Whether calls record what happens to them, as they do by default.
    var recordsTrace = true
    /// Who gets the record of each call: `nothing`, which does nothing with it, or a log, `line` or `json`.
    var observer: String?

    init(_ arguments: [String]) throws {
        var arguments = arguments[...]
        guard let name = arguments.popFirst(), let mode = Mode(rawValue: name) else {
            throw Failure(description: "the first argument is one of \(Mode.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        self.mode = mode
        while let option = arguments.popFirst() {
            switch option {
            case "--on-loop": runsOnLoop = true
            case "--from-file": uploadsFile = true
            case "--untraced": recordsTrace = false
            case "--distinct": isDistinct = true
            default:
                guard let value = arguments.popFirst() else { throw Failure(description: "no value for \(option)") }
                try take(option, value)
            }
        }
    }

    private mutating func take(_ option: String, _ value: String) throws {
        switch option {
        case "--url": url = value
        case "--ca": authorities = value
        case "--requests": requests = try Self.count(value, atLeast: 1)
        case "--in-flight": inFlight = try Self.count(value, atLeast: 1)
        case "--upload": upload = try Self.count(value, atLeast: 1)
        case "--parts": parts = value.split(separator: ",").map { String($0) }
        case "--method": method = value
        case "--transport":
            guard let loop = Loop(rawValue: value) else { throw Failure(description: "unknown: \(option) \(value)") }
            self.loop = loop
        case "--observer" where ["nothing", "line", "json"].contains(value): observer = value
        case "--interceptors": interceptors = try Self.count(value, atLeast: 0)
        case "--protocol" where ["http1", "http2"].contains(value): isHTTP2 = value == "http2"
        default: throw Failure(description: "unknown: \(option) \(value)")
        }
    }

    private static func count(_ text: String, atLeast minimum: Int) throws -> Int {
        guard let value = Int(text), value >= minimum else { throw Failure(description: "not a fitting number: \(text)") }
        return value
    }
}
