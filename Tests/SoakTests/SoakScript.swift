import Interception
import MidstreamCore
import MidstreamTesting

/// What the server of a soak does about each request: something else each time, and for the same seed, call and attempt the same.
struct SoakScript: Sendable {
    let seed: UInt64

    /// Where the requests of a call go: the call's number in the path, the attempt's in a header.
    static let attemptHeader: HTTPHeaders.Name = "X-Attempt"

    /// What a call asks for.
    func request(_ call: Int, with bytes: [UInt8], _ random: inout SplitMix) -> HTTPRequest {
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<6: HTTPRequest("/\(call)")
        case 6: HTTPRequest(.post, "/\(call)", body: .bytes(bytes))
        case 7: HTTPRequest(.put, "/\(call)", body: .stream { AsyncStream.chunks(of: bytes) })
        case 8: HTTPRequest(.put, "/\(call)", body: .once(AsyncStream.chunks(of: bytes), length: Int64(bytes.count)))
        default: HTTPRequest(.head, "/\(call)")
        }
    }

    func answer(to request: RecordedRequest, call: Int) -> MockServer.Response {
        let attempt = Int(request.headers[Self.attemptHeader] ?? "") ?? 1
        let hop = Int(request.query("hop") ?? "") ?? 0
        var random = SplitMix(seed &+ UInt64(call) &* 1_000_003 &+ UInt64(attempt) &* 101 &+ UInt64(hop))
        return answer(call, hop, &random)
    }

    private func answer(_ call: Int, _ hop: Int, _ random: inout SplitMix) -> MockServer.Response {
        let size = Int.random(in: 0...20_000, using: &random)
        let bytes = HTTPBody.bytes(Array(repeating: UInt8(ascii: "x"), count: size))
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<40: return .init(body: bytes)
        case 40..<46: return .init(body: .chunked(Array(repeating: Array("chunk".utf8), count: 1 + size / 100)))
        case 46..<48: return .init(body: .bytes(Array("until the end".utf8)), closeDelimited: true)
        case 48..<50: return .init(status: .noContent)
        case 50..<53: return .init(status: 500, body: bytes)
        case 53..<57: return .init(status: 503, headers: ["Retry-After": "0"], body: bytes)
        case 57..<61: return .init(status: 429, headers: ["Retry-After": "0"])
        case 61..<63: return .init(status: 404, body: bytes)
        case 63..<66: return .init(body: bytes, fault: .stall(place(&random)))
        case 66..<71: return .init(body: bytes, fault: .disconnect(place(&random)))
        case 71..<76: return .init(body: bytes, fault: .reset(place(&random)))
        case 76..<79: return .init(fault: .garbage((0..<200).map { _ in UInt8.random(in: 0...255, using: &random) }))
        case 79..<81: return .init(body: bytes, fault: .wrongContentLength(declared: size + 10))
        case 81..<83: return .init(body: bytes, fault: .wrongContentLength(declared: size / 2))
        case 83..<85: return .init(body: bytes, fault: .truncatedChunk)
        case 85..<86: return .init(fault: .oversizeHead(bytes: 500_000))
        case 86..<88: return .init(body: bytes, fault: .throttle(bytesPerSecond: 100_000))
        case 88..<89: return .init(body: .bytes(Array("slow".utf8)), fault: .dribble(delay: .milliseconds(1)))
        case 89..<92: return .init(body: bytes, delay: .milliseconds(Int.random(in: 1...50, using: &random)))
        // One in five never ends, but for the limit.
        case 92..<94: return .init(status: 302, headers: ["Location": "/\(call)?hop=\(hop)"])
        default: return .init(status: 307, headers: ["Location": "/\(call)?hop=\(hop + 1)"], body: bytes)
        }
    }

    private func place(_ random: inout SplitMix) -> Fault.Place {
        [.beforeHead, .insideHead, .insideBody(afterBytes: 1_000), .afterResponse].randomElement(using: &random) ?? .beforeHead
    }
}

extension AsyncStream where Element == [UInt8] {
    static func chunks(of bytes: [UInt8]) -> Self {
        let rest = Locked(bytes[...])
        return Self(unfolding: {
            rest.withLock { rest in
                let chunk = rest.prefix(4_096)
                rest = rest.dropFirst(4_096)
                return chunk.isEmpty ? nil : Array(chunk)
            }
        })
    }
}

/// A small generator whose numbers depend on nothing but its seed (Steele, Lea and Flood's SplitMix).
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
