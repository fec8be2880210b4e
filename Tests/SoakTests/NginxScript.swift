import Foundation
import MidstreamCore

/// What calls ask the nginx of `Scripts/with-servers` for, over TLS and HTTP/2: small and large bodies, uploads that are read, and such
/// that are refused before they are.
struct NginxScript: Sendable {
    private let origin: String
    /// The path of its authority's certificate.
    let authority: String

    /// Nil where it doesn't run.
    init?() {
        let environment = ProcessInfo.processInfo.environment
        guard let origin = environment["MIDSTREAM_NGINX_HTTPS"], let authority = environment["MIDSTREAM_CA"] else { return nil }
        (self.origin, self.authority) = (origin, authority)
    }

    func request(with bytes: [UInt8], _ random: inout SplitMix) -> HTTPRequest {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<50: HTTPRequest("\(raw: origin)/1k")
        case 50..<54: HTTPRequest("\(raw: origin)/10m")
        case 54..<60: HTTPRequest("\(raw: origin)/page")
        case 60..<64: HTTPRequest("\(raw: origin)/redirect")
        case 64..<67: HTTPRequest("\(raw: origin)/status/204")
        case 67..<70: HTTPRequest("\(raw: origin)/status/404")
        case 70..<73: HTTPRequest("\(raw: origin)/status/500")
        case 73..<78: HTTPRequest(.head, "\(raw: origin)/hello")
        case 78..<83: HTTPRequest(.post, "\(raw: origin)/length", body: .bytes(bytes))
        case 83..<88: HTTPRequest(.put, "\(raw: origin)/length", body: .stream { AsyncStream.chunks(of: bytes) })
        case 88..<92:
            HTTPRequest(.put, "\(raw: origin)/length", body: .once(AsyncStream.chunks(of: bytes), length: Int64(bytes.count)))
        case 92..<96: HTTPRequest(.put, "\(raw: origin)/small-limit", body: .bytes(bytes))
        default: HTTPRequest(.put, "\(raw: origin)/refused", body: .stream { AsyncStream.chunks(of: bytes) })
        }
    }
}
