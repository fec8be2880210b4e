import Foundation
import Midstream

/// Shows a response: on standard output, or in the file that `-o` names.
struct Answer {
    let arguments: Arguments

    /// Shows all of it that is wanted.
    ///
    /// - Parameter isContent: Whether its body goes where `-o` says.
    func show(_ response: HTTPResponse, isContent: Bool = true) async throws {
        try showHead(of: response)
        guard isContent, let path = arguments.output, path != "-" else {
            // A script that asks for a summary reads that alone.
            return try await print(response, into: isContent || arguments.summary == nil ? STDOUT_FILENO : STDERR_FILENO)
        }
        let output = try Terminal.descriptor(path)
        var isOpen = true
        defer { if isOpen { close(output) } }
        for try await chunk in response.body { try Terminal.put(chunk, into: output) }
        isOpen = false
        if close(output) != 0 { throw OutputFailure(code: errno) }
    }

    /// Prints status line and fields where they are wanted.
    func showHead(of response: HTTPResponse) throws {
        guard arguments.includesHead else { return }
        try Terminal.print(arguments.format.statusLine(response))
        for (name, value) in response.headers { try Terminal.print(arguments.format.field(name, value)) }
        try Terminal.print("")
    }

    /// Prints the body: as it arrives, line by line, or laid out as a whole.
    private func print(_ response: HTTPResponse, into descriptor: Int32) async throws {
        let (format, type) = (arguments.format, response.headers[.contentType])
        if arguments.delivery == .lines {
            for try await line in response.body.lines() {
                try Terminal.print(format.laysOut(for: descriptor) ? format.painted(line) : line, into: descriptor)
            }
            return
        }
        var body = response.body
        if format.laysOut(for: descriptor), Self.isWholeJSON(type) {
            // Nothing says how long a compressed body is, or one that comes in chunks.
            body = try await body.buffered(upTo: 4 << 20)
            if let bytes = body.bytes, let text = format.laidOut(bytes, contentType: type) {
                return try Terminal.print(text, into: descriptor)
            }
        }
        for try await chunk in body {
            if format.isUnfit(chunk, for: descriptor) {
                body.close()
                return Terminal.printError("midst: the body isn't text; -o FILE keeps it, --raw prints it")
            }
            try Terminal.put(chunk, into: descriptor)
        }
    }

    /// Whether a type is that of one JSON value, and not of many that come one by one.
    private static func isWholeJSON(_ contentType: String?) -> Bool {
        let type = (contentType ?? "").prefix { $0 != ";" }.lowercased().trimmingCharacters(in: .whitespaces)
        return type.hasSuffix("/json") || type.hasSuffix("+json")
    }

    /// Prints an event as a line of JSON.
    func print(_ event: ServerSentEvent) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let fields = ["event": event.name, "data": event.data].merging(event.id.isEmpty ? [:] : ["id": event.id]) { $1 }
        let line = String(decoding: try encoder.encode(fields), as: UTF8.self)
        try Terminal.print(arguments.format.laysOut(for: STDOUT_FILENO) ? arguments.format.painted(line) : line)
    }
}
