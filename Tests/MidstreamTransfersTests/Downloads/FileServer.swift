import Foundation
import Interception
import Midstream
import MidstreamTesting
import TestSupport

/// A server of one file that understands ranges, cuts answers as it is told, and can be made to misbehave.
final class FileServer: Sendable {
    struct File: Sendable {
        var content: [UInt8]
        var headers: HTTPHeaders
        /// Whether a request for a range is answered with the whole, although ranges are offered.
        var ignoresRanges = false
        /// How many bytes the answer to a request for a range has at most.
        var largestPart = Int.max

        init(_ content: [UInt8], eTag: String?) {
            self.content = content
            headers = ["Accept-Ranges": "bytes"]
            headers[.etag] = eTag
        }

        /// The usual answer.
        func answer(to request: RecordedRequest) -> MockServer.Response {
            var response = MockServer.Response(headers: headers, body: .bytes(content))
            guard !ignoresRanges, let range = request.headers[.range],
                request.headers[.ifRange] == nil || request.headers[.ifRange] == headers[.etag]
            else {
                return response
            }
            let bounds = range.dropFirst("bytes=".count).split(separator: "-").compactMap { Int($0) }
            guard let first = bounds.first, first < content.count else {
                return .init(status: 416, headers: ["Content-Range": "bytes */\(content.count)"])
            }
            let wanted = bounds.count > 1 ? min(bounds[1], content.count - 1) : content.count - 1
            let last = wanted - first < largestPart ? wanted : first + largestPart - 1
            response.status = 206
            response.headers[.contentRange] = "bytes \(first)-\(last)/\(content.count)"
            response.body = .bytes(content[first...last])
            return response
        }
    }

    private struct State {
        var file: File
        /// After how many bytes each of the next answers is cut; nil: not at all.
        var cuts: [Int?] = []
        /// What becomes of each of the next answers, after the usual one has been made.
        var changes: [@Sendable (inout MockServer.Response) -> Void] = []
    }

    private let server: MockServer
    private let state: Locked<State>

    init(_ content: [UInt8], eTag: String? = "\"1\"") throws {
        server = try MockServer()
        let state = Locked(State(file: File(content, eTag: eTag)))
        self.state = state
        server.respond { request in
            let (file, cut, change) = state.withLock { state in
                (
                    state.file, state.cuts.isEmpty ? nil : state.cuts.removeFirst(),
                    state.changes.isEmpty ? nil : state.changes.removeFirst()
                )
            }
            var response = file.answer(to: request)
            if let cut { response.fault = .disconnect(.insideBody(afterBytes: cut)) }
            change?(&response)
            return response
        }
    }

    deinit { server.shutdown() }

    var requests: [RecordedRequest] { server.requests }
    var url: String { server.url("/film") }

    func replace(_ content: [UInt8], eTag: String?) { state.withLock { $0.file = File(content, eTag: eTag) } }
    func change(_ change: (inout File) -> Void) { state.withLock { change(&$0.file) } }
    /// Forgets what was to be done to the next answers.
    func runFreely() { state.withLock { ($0.cuts, $0.changes) = ([], []) } }
    func cut(_ cuts: Int?...) { state.withLock { $0.cuts += cuts } }
    func next(_ changes: @Sendable (inout MockServer.Response) -> Void...) { state.withLock { $0.changes += changes } }

    /// A client that waits for nothing: its jitter takes the whole of each wait.
    func client(@PipelineBuilder interceptors: () -> [any HTTPInterceptor] = { [] }) -> HTTPClient {
        testClient(configuration: .init(random: { 0 }), interceptors: interceptors)
    }

    /// Bytes in which a piece that is lost, doubled or swapped shows.
    static func content(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
        var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        return (0..<count).map { _ in
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return UInt8(truncatingIfNeeded: state)
        }
    }

    /// So many blocks of 64 KiB, each of which says which it is.
    static func blocks(_ count: Int) -> [UInt8] {
        let block = content(64 << 10)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count << 16)
        for number in 0..<count {
            bytes += withUnsafeBytes(of: UInt64(number)) { Array($0) }
            bytes += block.dropFirst(8)
        }
        return bytes
    }
}
