import Foundation
import Midstream

/// Requests as lines of JSON, answered by lines of JSON: `midst batch`.
struct Batch {
    let file: String
    let arguments: Arguments

    /// A request in a line: `{"url": "…", "method": "PUT", "headers": {"A": "b"}, "body": …, "id": …}`.
    private struct Line: Decodable {
        var id: JSONText?
        var url: String
        var method: String?
        var headers: [String: String]?
        var body: JSONText?
    }

    /// What came of it. `line` counts from 1, as the answers come in the order in which they are there.
    private struct Reply: Encodable {
        var line: Int
        var id: JSONText?
        var url: String?
        var status: Int?
        var headers: [String: String]?
        var body: JSONText?
        /// In place of a body that isn't text.
        var base64: String?
        var milliseconds: Double?
        var error: String?
    }

    /// Of a body that is answered. A line may be as long.
    static let limit = 64 << 20

    /// Returns 1 when one of them wasn't answered as expected, which is by default with a status below 400.
    ///
    /// - Throws: Why the rest of the input couldn't be read, too; what stood before that has been answered.
    func run() async throws -> Int32 {
        let input = file == "-" ? FileHandle.standardInput : try ValueSource.opened(file)
        let transport = try arguments.transport.transport()
        let recording = try Recording(arguments)
        let client = Invocation(arguments).client(recording.observers, transport, bodyLimit: Self.limit)
        return try await recording.keeping(arguments.session) { try await answer(input, by: client) ? 0 : 1 }
    }

    /// Returns whether all of them were answered as expected.
    private func answer(_ input: FileHandle, by client: HTTPClient) async throws -> Bool {
        // Where an answer can't be written, nothing more is asked, nor waited for: the input may go on for ever.
        let isUnheard = Locked(false)
        let chunks = InputChunks(file: input) { isUnheard.withLock { $0 } }
        var lines = HTTPBody.once(chunks).lineBytes(upTo: Self.limit).makeAsyncIterator()
        var unread: (any Error)?
        let hasFailed = try await withThrowingTaskGroup(of: Bool.self) { group in
            var (number, hasFailed, running) = (0, false, 0)
            while let line = await Self.next(&lines, &unread), !isUnheard.withLock({ $0 }) {
                number += 1
                guard let line = String(bytes: line, encoding: .utf8) else {
                    hasFailed = true
                    try await Self.print(Reply(line: number, error: "the line isn't text in UTF-8"))
                    continue
                }
                guard line.contains(where: { !$0.isWhitespace }) else { continue }
                if running == arguments.jobs, let isGood = try await group.next() {
                    (hasFailed, running) = (hasFailed || !isGood, running - 1)
                }
                running += 1
                group.addTask { [number] in
                    do { return try await answer(line, number, by: client) } catch {
                        isUnheard.withLock { $0 = true }
                        throw error
                    }
                }
            }
            if (unread as? HTTPError)?.code == .bodyTooLarge {
                (unread, hasFailed) = (nil, true)
                try await Self.print(
                    Reply(line: number + 1, error: "the line is longer than 64 MiB, and what follows isn't read"))
            }
            for try await isGood in group where !isGood { hasFailed = true }
            return hasFailed
        }
        if let unread { throw unread }
        return !hasFailed
    }

    /// Values of the same name by commas, but for `Set-Cookie`: those have commas of their own (RFC 9110, 5.3).
    private static func joined(_ headers: HTTPHeaders) -> [String: String] {
        let fields = Dictionary(grouping: headers, by: \.name).map { name, fields in
            ("\(name)", fields.map(\.value).joined(separator: name == .setCookie ? "\n" : ", "))
        }
        // Names of other bytes may be the same text, such as one with a K and one with the sign of the kelvin.
        return Dictionary(fields, uniquingKeysWith: { "\($0), \($1)" })
    }

    /// The next line; nil at the end, and where the rest can't be read: what has been sent goes on then.
    private static func next(
        _ lines: inout ElementSequence<[UInt8]>.AsyncIterator, _ unread: inout (any Error)?
    ) async -> [UInt8]? {
        do {
            return try await lines.next()
        } catch {
            unread = error
            return nil
        }
    }

    private func answer(_ text: String, _ number: Int, by client: HTTPClient) async throws -> Bool {
        var (reply, body) = (Reply(line: number), Data())
        let begun = ContinuousClock.now
        do {
            let line = try JSONDecoder().decode(Line.self, from: Data(text.utf8))
            (reply.id, reply.url) = (line.id, line.url)
            let response = try await client.send(request(line))
            body = response.data
            reply.status = response.status.code
            reply.headers = Self.joined(response.headers)
            reply.body = JSONText(body, isJSON: response.headers[.contentType]?.contains("json") == true)
            if reply.body == nil, !body.isEmpty { reply.base64 = body.base64EncodedString() }
            reply.error = arguments.expectations.lazy.compactMap { $0.failure(in: body) }.first
            if let expected = arguments.expectedStatus, reply.status != expected {
                reply.error = "\(response.status) came where \(expected) was expected"
            }
        } catch is DecodingError {
            reply.error = "the line isn't a request such as {\"url\": \"https://example.com\"}"
        } catch let error as HTTPError {
            reply.error = error.description
        }
        reply.milliseconds = ((ContinuousClock.now - begun) / .microseconds(1)).rounded() / 1_000
        do {
            try await Self.print(reply)
        } catch is EncodingError {
            // JSON may be nested so deep that nothing goes around it.
            reply.body = JSONText(body, isJSON: false)
            try await Self.print(reply)
        }
        return reply.error == nil && (arguments.expectedStatus != nil || reply.status.map { $0 < 400 } == true)
    }

    private static let output = ReplyOutput()

    private static func print(_ reply: Reply) async throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        try await output.print(String(decoding: try encoder.encode(reply), as: UTF8.self))
    }

    private func request(_ line: Line) throws -> HTTPRequest {
        var headers = arguments.headers
        for (name, value) in line.headers ?? [:] { headers[HTTPHeaders.Name(name)] = value }
        let method = Arguments.method(named: line.method ?? (line.body == nil ? "GET" : "POST"))
        return HTTPRequest(method, line.url, headers: headers, body: try line.body?.body() ?? .empty)
    }
}

/// Standard output, to which one line is written at a time: a pipe takes a long one in pieces, between which another one's could come.
private actor ReplyOutput {
    func print(_ line: String) throws { try Terminal.print(line) }
}

/// Any JSON; a text is sent as it is.
private enum JSONText: Codable, Sendable {
    case text(String)
    /// As written, to 38 digits.
    case number(Decimal)
    case boolean(Bool)
    case array([JSONText])
    case object([String: JSONText])
    case null

    /// A body that was received: its JSON, or its text; nil where it is neither.
    init?(_ data: Data, isJSON: Bool) {
        if isJSON, let json = try? JSONDecoder().decode(JSONText.self, from: data) {
            self = json
        } else if !data.isEmpty, let text = String(bytes: data, encoding: .utf8) {
            self = .text(text)
        } else {
            return nil
        }
    }

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        func decoded<Value: Decodable>(_ make: (Value) -> JSONText) -> JSONText? { (try? value.decode(Value.self)).map(make) }
        let plain: JSONText? = value.decodeNil() ? .null : decoded(Self.boolean) ?? decoded(Self.number) ?? decoded(Self.text)
        self = try plain ?? decoded(Self.array) ?? .object(value.decode([String: JSONText].self))
    }

    func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .text(let text): try value.encode(text)
        case .number(let number): try value.encode(number)
        case .boolean(let flag): try value.encode(flag)
        case .array(let array): try value.encode(array)
        case .object(let object): try value.encode(object)
        case .null: try value.encodeNil()
        }
    }

    func body() throws -> HTTPBody {
        if case .text(let text) = self { return .text(text) }
        return try .json(self)
    }
}
