import Foundation
import Interception
import MidstreamPlatform
import Testing

/// A server of resumable uploads on a real socket, of both protocols: it cuts connections where it is told to, and answers strangely.
///
/// One connection at a time, each for one request, served by a thread of its own.
final class UploadServer: Sendable {
    struct Request: Sendable {
        var method = ""
        var path = ""
        var fields: [String: String] = [:]
        var bodyLength = 0
    }

    struct Script: Sendable {
        var isTus = false
        /// After how many bytes of each of the next bodies the connection is cut; nil: not at all.
        var cuts: [Int?] = []
        /// Whether the upload's place is told before it is complete.
        var sends104 = true
        /// How often it says how much it has before it answers.
        var reports = 0
        /// Heads in place of the usual answers to the next requests, once their bodies have been read; nil: the usual one.
        var answers: [String?] = []
        /// Further fields of all answers that tell the upload's place.
        var limit: String?
        /// How many bytes the server loses at the next question.
        var loses = 0
        /// What it says about how much it has; nil: the truth.
        var claims: String?
    }

    private struct State {
        var script = Script()
        var requests: [Request] = []
        var content: [UInt8] = []
        var bytesReceived = 0
        var isComplete = false
    }

    private let state = Locked(State())
    private let listener: Int32
    let port: UInt16

    init(_ script: Script = Script()) throws {
        // A client that leaves mustn't end the process.
        signal(SIGPIPE, SIG_IGN)
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let port = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address -> UInt16 in
                _ = MidstreamPlatform.bind(listener, address, length)
                listen(listener, 64)
                getsockname(listener, address, &length)
                return UnsafeRawPointer(address).assumingMemoryBound(to: sockaddr_in.self).pointee.sin_port.bigEndian
            }
        }
        self.port = port
        self.listener = listener
        state.withLock { $0.script = script }
        let state = state
        Thread.detachNewThread {
            while true {
                let connection = MidstreamPlatform.accept(listener, nil, nil)
                guard connection >= 0 else {
                    // Not before: its number would be another server's, whose connections this thread would take.
                    MidstreamPlatform.close(listener)
                    return
                }
                Self.serve(connection, state)
                MidstreamPlatform.close(connection)
            }
        }
    }

    deinit { shutdown(listener, Int32(SHUT_RDWR)) }

    var url: String { "http://127.0.0.1:\(port)/uploads" }
    var requests: [Request] { state.withLock { $0.requests } }
    var content: [UInt8] { state.withLock { $0.content } }
    var bytesReceived: Int { state.withLock { $0.bytesReceived } }
    var isComplete: Bool { state.withLock { $0.isComplete } }
    func change(_ change: (inout Script) -> Void) { state.withLock { change(&$0.script) } }

    // MARK: One request

    private static func serve(_ connection: Int32, _ state: Locked<State>) {
        guard let (head, rest) = readHead(connection) else { return }
        var request = head
        let script = state.withLock { $0.script }
        let place = "/uploads/1"
        let fields = (script.limit.map { "Upload-Limit: \($0)\r\n" } ?? "") + "Location: \(place)\r\n"
        let offset = request.fields["upload-offset"].flatMap { Int($0) }
        let conflicts = request.method == "PATCH" && offset != state.withLock { $0.content.count }
        if request.method == "POST" {
            state.withLock { $0.content = [] }
            if script.sends104, !script.isTus { send(connection, "HTTP/1.1 104 Upload Resumption Supported\r\n\(fields)\r\n") }
        }
        // The body, up to where it is cut.
        let length = request.fields["content-length"].flatMap { Int($0) } ?? 0
        let cut = length > 0 ? state.withLock { $0.script.cuts.isEmpty ? nil : $0.script.cuts.removeFirst() } : nil
        let wanted = min(length, cut ?? length)
        func keep(_ bytes: ArraySlice<UInt8>) {
            let own = bytes.prefix(wanted - request.bodyLength)
            request.bodyLength += own.count
            state.withLock { state in
                state.bytesReceived += bytes.count
                if !conflicts { state.content += own }
            }
        }
        keep(rest[...])
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while request.bodyLength < wanted {
            let count = MidstreamPlatform.read(connection, &buffer, buffer.count)
            guard count > 0 else { break }
            keep(buffer[..<count])
        }
        let report = "HTTP/1.1 104 Upload Resumption Supported\r\nUpload-Offset: \(request.bodyLength)\r\n\r\n"
        send(connection, String(repeating: report, count: script.reports))
        let isCut = request.bodyLength < length
        let answer = state.withLock { state -> String? in
            state.requests.append(request)
            return state.script.answers.isEmpty ? nil : state.script.answers.removeFirst()
        }
        if isCut, answer == nil { return }
        if let answer {
            return send(
                connection, answer.replacingOccurrences(of: "\n", with: "\r\n") + "Connection: close\r\nContent-Length: 0\r\n\r\n"
            )
        }
        let isLast = request.fields["upload-complete"] == "?1"
        let (count, total) = state.withLock { state in
            if request.method == "HEAD", state.script.loses > 0 {
                state.content.removeLast(min(state.script.loses, state.content.count))
                state.script.loses = 0
            }
            if !conflicts, request.method != "HEAD", isLast { state.isComplete = true }
            return (state.content.count, state.isComplete)
        }
        let claimed = script.claims ?? "\(count)"
        let complete = script.isTus ? "Tus-Resumable: 1.0.0\r\n" : "Upload-Complete: \(total ? "?1" : "?0")\r\n"
        let answerHead =
            switch request.method {
            case _ where conflicts: "409 Conflict\r\nUpload-Offset: \(claimed)\r\n"
            case "POST": "\(isLast && !script.isTus ? "200 OK" : "201 Created")\r\n\(fields)\(complete)"
            case "HEAD":
                "204 No Content\r\nUpload-Offset: \(claimed)\r\n\(complete)\(script.limit.map { "Upload-Limit: \($0)\r\n" } ?? "")"
            default: "\(isLast ? "200 OK" : "204 No Content")\r\nUpload-Offset: \(claimed)\r\n\(complete)"
            }
        let end = answerHead.hasPrefix("204") ? "" : "Content-Length: 0\r\n"
        send(connection, "HTTP/1.1 \(answerHead)\(end)Connection: close\r\n\r\n")
    }

    private static func readHead(_ connection: Int32) -> (Request, [UInt8])? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            // Not in a text: a body whose first bytes are an accent would change the line feed before them, and no head would end.
            if let end = bytes.firstRange(of: [13, 10, 13, 10]) {
                let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
                let parts = lines[0].split(separator: " ")
                var request = Request(method: String(parts[0]), path: String(parts[1]))
                for line in lines.dropFirst() {
                    let parts = line.split(separator: ":", maxSplits: 1)
                    request.fields[parts[0].lowercased()] = parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : ""
                }
                return (request, Array(bytes[end.upperBound...]))
            }
            let count = MidstreamPlatform.read(connection, &buffer, buffer.count)
            guard count > 0 else { return nil }
            bytes += buffer[..<count]
        }
    }

    private static func send(_ connection: Int32, _ text: String) {
        let bytes = Array(text.utf8)
        _ = MidstreamPlatform.send(connection, bytes, bytes.count, 0)
    }
}
