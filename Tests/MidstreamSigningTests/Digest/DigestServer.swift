import Interception
import MidstreamCore
import MidstreamTesting

@testable import MidstreamSigning

/// A server that demands the Digest scheme and checks the answers by itself.
final class DigestServer: Sendable {
    struct State {
        var nonce = 1
        /// The counts that each nonce has been used with.
        var used: Set<String> = []
        var challenges = 0
        var nextNonce = false
        var isAlwaysStale = false
        /// The realm of a path, if it isn't `r`.
        var realms: [String: String] = [:]
    }

    let server: MockServer
    let state = Locked(State())

    init(algorithm: String = "SHA-256", function: HashFunction = .sha256, password: String = "Circle of Life") throws {
        server = try MockServer()
        server.respond { [state] request in
            let field = request.headers[.authorization] ?? ""
            let given = AuthenticationChallenge.all(in: ["WWW-Authenticate": field]).first?.parameters ?? [:]
            let hash = function.hexadecimal
            let middle = ["nonce", "nc", "cnonce", "qop"].map { given[$0] ?? "" }.joined(separator: ":")
            let realm = state.withLock { $0.realms[request.path] } ?? "r"
            let user = try hash("Mufasa:\(realm):\(password)")
            let target = try hash("\(request.method):\(request.target)")
            let isRight =
                try given["response"] == hash("\(user):\(middle):\(target)") && given["uri"] == request.target
                && given["realm"] == realm
            return state.withLock { state in
                let isCurrent = given["nonce"] == "n\(state.nonce)" && !state.isAlwaysStale
                if isRight, isCurrent, state.used.insert("\(given["nonce"] ?? "") \(given["nc"] ?? "")").inserted {
                    var headers = HTTPHeaders()
                    if state.nextNonce {
                        state.nonce += 1
                        headers["Authentication-Info"] = "qop=auth, nextnonce=\"n\(state.nonce)\""
                    }
                    return .init(headers: headers, body: .text("hello \(request.text)"))
                }
                state.challenges += 1
                if state.isAlwaysStale { state.nonce += 1 }
                let stale = isRight ? ", stale=true" : ""
                return .init(
                    status: .unauthorized,
                    headers: [
                        .wwwAuthenticate:
                            "Digest realm=\"\(realm)\", nonce=\"n\(state.nonce)\", qop=\"auth\", algorithm=\(algorithm)\(stale)"
                    ])
            }
        }
    }

    deinit { server.shutdown() }

    var challenges: Int { state.withLock { $0.challenges } }

    /// Makes the nonce that clients know a stale one.
    func expireNonce() { state.withLock { $0.nonce += 1 } }
}
