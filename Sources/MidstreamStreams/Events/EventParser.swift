/// Reads an event stream from its bytes, in whatever pieces they come (WHATWG HTML §9.2.6).
///
/// Lines end with LF, CR or CRLF, which may be mixed. A CR ends a line at once: an LF behind it belongs to it whenever it comes.
struct EventParser {
    /// The last event ID string: what the next connection begins behind.
    private(set) var lastEventID: String
    /// How long the server wants clients to wait before they connect again, in milliseconds.
    private(set) var retry: Int64?
    private let limits: EventLimits

    private var chunk: [UInt8] = []
    private var position = 0
    /// The beginning of a line, from the chunks before this one.
    private var beginning: [UInt8] = []
    private var skipsLineFeed = false
    private var isFirstLine = true
    /// The last event ID buffer, the data buffer and the event type buffer.
    private var id: String
    private var data: [UInt8] = []
    private var name = ""

    init(lastEventID: String = "", limits: EventLimits = EventLimits()) {
        self.lastEventID = lastEventID
        self.limits = limits
        id = lastEventID
    }

    /// Takes the next piece of the stream, once ``next()`` has used up the one before.
    mutating func add(_ bytes: [UInt8]) {
        chunk = bytes
        position = 0
    }

    /// Begins another stream, which goes on behind the last event of this one. An unfinished event is dropped.
    mutating func startOver() {
        let retry = retry
        self = EventParser(lastEventID: lastEventID, limits: limits)
        self.retry = retry
    }

    /// The next event; nil when it needs more bytes.
    mutating func next() throws -> ServerSentEvent? {
        // Held here, so that it isn't part of what is changed while it is read.
        let chunk = chunk
        return try chunk.withUnsafeBufferPointer { try next(in: $0) }
    }

    private mutating func next(in chunk: UnsafeBufferPointer<UInt8>) throws -> ServerSentEvent? {
        while position < chunk.count {
            let start = position
            if skipsLineFeed {
                skipsLineFeed = false
                if chunk[start] == 10 {
                    position += 1
                    continue
                }
            }
            var end = start
            while end < chunk.count, chunk[end] != 10, chunk[end] != 13 { end += 1 }
            guard end - start <= limits.line - beginning.count else { throw limits.linePassed }
            let piece = UnsafeBufferPointer(rebasing: chunk[start..<end])
            guard end < chunk.count else {
                beginning += piece
                position = end
                return nil
            }
            position = end + 1
            skipsLineFeed = chunk[end] == 13
            if let event = beginning.isEmpty ? try read(line: piece) : try readBeginning(and: piece) { return event }
        }
        return nil
    }

    /// Reads a line that began in a chunk before this one.
    private mutating func readBeginning(and rest: UnsafeBufferPointer<UInt8>) throws -> ServerSentEvent? {
        var line: [UInt8] = []
        swap(&line, &beginning)
        line += rest
        return try line.withUnsafeBufferPointer { try read(line: $0) }
    }

    private mutating func read(line: UnsafeBufferPointer<UInt8>) throws -> ServerSentEvent? {
        var line = line
        if isFirstLine {
            isFirstLine = false
            if line.starts(with: [0xEF, 0xBB, 0xBF]) { line = UnsafeBufferPointer(rebasing: line[3...]) }
        }
        if line.isEmpty { return dispatch() }
        var colon = 0
        while colon < line.count, line[colon] != UInt8(ascii: ":") { colon += 1 }
        // With nothing before the colon it is a comment, which only shows that the connection is alive.
        guard colon > 0 else { return nil }
        var start = min(colon + 1, line.count)
        if start < line.count, line[start] == 32 { start += 1 }
        try read(field: UnsafeBufferPointer(rebasing: line[..<colon]), UnsafeBufferPointer(rebasing: line[start...]))
        return nil
    }

    private mutating func read(field: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) throws {
        if field.spells("data") {
            guard value.count < limits.event - data.count else { throw limits.eventPassed }
            data.append(contentsOf: value)
            data.append(10)
        } else if field.spells("event") {
            name = String(decoding: value, as: UTF8.self)
        } else if field.spells("id") {
            if !value.contains(0) { id = String(decoding: value, as: UTF8.self) }
        } else if field.spells("retry"), !value.isEmpty, value.allSatisfy({ 48...57 ~= $0 }) {
            let digits = value.drop { $0 == 48 }
            // More digits than this are more than 30 years.
            retry = digits.count > 12 ? 1_000_000_000_000 : digits.reduce(0) { $0 * 10 + Int64($1 - 48) }
        }
    }

    private mutating func dispatch() -> ServerSentEvent? {
        lastEventID = id
        defer { name = "" }
        guard !data.isEmpty else { return nil }
        let text = data.withUnsafeBufferPointer { String(decoding: $0[..<($0.count - 1)], as: UTF8.self) }
        data.removeAll(keepingCapacity: data.count <= 64 << 10)
        return ServerSentEvent(
            name: name.isEmpty ? "message" : name, data: text, id: lastEventID, retry: retry.map { .milliseconds($0) })
    }
}

extension UnsafeBufferPointer<UInt8> {
    fileprivate func spells(_ name: StaticString) -> Bool {
        guard count == name.utf8CodeUnitCount else { return false }
        var place = 0
        while place < count, self[place] == name.utf8Start[place] { place += 1 }
        return place == count
    }
}
