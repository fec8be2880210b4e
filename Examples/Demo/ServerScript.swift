import Midstream
import MidstreamTesting

/// A server with a bad day: busy at first, then strict about tokens, and the user has moved.
actor ServerScript {
    private var requests = 0

    func answer(_ request: RecordedRequest) -> MockServer.Response {
        requests += 1
        switch request.path {
        case "/v1/login":
            return .init(status: 200, body: .text("token-of-today"))
        case "/v1/users/42" where requests == 1:
            return .init(status: 503, headers: [.retryAfter: "0"])
        case "/v1/users/42" where request.headers[.authorization] != "Bearer token-of-today":
            return .init(status: 401)
        case "/v1/users/42":
            return .init(status: 302, headers: [.location: "/v1/people/42?full=1"])
        case "/v1/people/42":
            return .init(status: 200, headers: ["X-Time": "3"], body: .text(#"{"name": "Ann"}"#))
        default:
            return .init(status: 404)
        }
    }
}
