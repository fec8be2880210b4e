public import Foundation
public import MidstreamCore

/// The token endpoint of an OAuth server (RFC 6749 §3.2), for one of its clients. Shows no secret.
public struct OAuthTokenEndpoint: Sendable {
    /// The endpoint's URL.
    public let url: String
    /// The client's name with the server (RFC 6749 §2.3).
    public let client: String
    private let secret: String?
    private let sendsSecretInForm: Bool
    private let send: @Sendable (HTTPRequest) async throws -> HTTPResponse
    private let now: @Sendable () -> Date

    /// Makes an endpoint.
    ///
    /// - Parameters:
    ///   - url: The endpoint's URL; relative to the base URL of the client that sends.
    ///   - secret: The client's secret; nil for one that can't keep any, such as an app. It then only names itself.
    ///   - sendsSecretInForm: Whether the secret goes among the form's fields, as `client_secret`; false by default: in a header in the
    ///     Basic scheme, which every server must understand.
    ///   - now: The time, which the end of a token's life is counted from.
    ///   - send: Sends the requests, usually by an ``HTTPClient``. It may be the one that the tokens are for, for refreshes: a login by it
    ///     would have to wait for the token that it is to bring. Error statuses have to come back as responses; the requests ask for that
    ///     by having no validators.
    public init(
        url: String, client: String, secret: String? = nil, sendsSecretInForm: Bool = false,
        now: @escaping @Sendable () -> Date = { Date() },
        send: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse
    ) {
        self.url = url
        self.client = client
        self.secret = secret
        self.sendsSecretInForm = sendsSecretInForm
        self.send = send
        self.now = now
    }

    /// Makes an endpoint with its own client, or with one that other requests use as well.
    public init(
        url: String, client: String, secret: String? = nil, sendsSecretInForm: Bool = false, using sender: HTTPClient,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.init(url: url, client: client, secret: secret, sendsSecretInForm: sendsSecretInForm, now: now) {
            try await sender.send($0)
        }
    }

    /// Asks for a token.
    ///
    /// The request follows no redirect, which would take the secrets elsewhere, and isn't repeated by itself.
    ///
    /// - Parameter grant: The form's fields, `grant_type` among them.
    /// - Throws: ``OAuthError`` for any answer that is no token; what sending throws.
    public func token(for grant: [(String, String)]) async throws -> OAuthToken {
        let request = request(for: grant)
        let response = try await send(request)
        let values = grant.filter { !Self.publicFields.contains($0.0) }.map(\.1) + [secret].compactMap { $0 }
        // In each spelling, and the longest first: one may be part of another.
        let secrets = values.flatMap { [$0, $0.formEncoded, $0.percentEncoded] }.sorted { $0.utf8.count > $1.utf8.count }
        // Some servers refuse with a success.
        guard let token = try token(in: response) else { throw refusal(in: response, withholding: secrets) }
        return token
    }

    /// The fields whose values an error may show.
    private static let publicFields: Set = ["grant_type", "client_id", "scope"]

    private func request(for grant: [(String, String)]) -> HTTPRequest {
        var headers: HTTPHeaders = [.accept: "application/json"]
        var fields = grant
        if let secret, !sendsSecretInForm {
            // Both parts are form-encoded before they are put together (RFC 6749 §2.3.1).
            headers[.authorization] = .basic(user: client.formEncoded, password: secret.formEncoded)
        } else {
            fields.append(("client_id", client))
            if let secret { fields.append(("client_secret", secret)) }
        }
        var request = HTTPRequest(.post, url, headers: headers, body: .form(fields))
        request.validators = []
        request.redirects = .refuse
        request.maxRetries = 0
        request.needsServersAnswer = true
        return request
    }

    /// Nil: the answer holds none.
    private func token(in response: HTTPResponse) throws -> OAuthToken? {
        struct Answer: Decodable {
            var access_token: String
            var token_type: String?
            var expires_in: Seconds?
            var refresh_token: String?
            var scope: Scope?
        }
        guard response.status.isSuccess, let answer = try? JSONDecoder().decode(Answer.self, from: response.data),
            !answer.access_token.isEmpty
        else { return nil }
        // A token of an unknown type can't be used (RFC 6749 §7.1). Servers have many names for those that bearers may use, and few types
        // take a proof.
        guard !["mac", "dpop", "pop", "n_a"].contains(answer.token_type?.lowercased()) else {
            throw OAuthError(.malformedResponse, "The token isn't a bearer token.", status: response.status)
        }
        let now = now()
        return OAuthToken(
            accessToken: answer.access_token, refreshToken: answer.refresh_token.flatMap { $0.isEmpty ? nil : $0 }, obtained: now,
            expires: answer.expires_in?.value.map { now + $0 }, scope: answer.scope?.text)
    }

    private func refusal(in response: HTTPResponse, withholding secrets: [String]) -> OAuthError {
        struct Answer: Decodable {
            var error: String
            var error_description: String?
            var error_uri: String?
        }
        guard let answer = try? JSONDecoder().decode(Answer.self, from: response.data) else {
            let what = response.status.isSuccess ? "holds no access token" : "is no error as OAuth has them"
            return OAuthError(.malformedResponse, "The answer \(what).", status: response.status)
        }
        let shown = { (text: String) in
            // Compared unit by unit: with a combining mark after it, a secret would otherwise pass for another text.
            secrets.filter { !$0.isEmpty }.reduce(text) {
                $0.replacingOccurrences(of: $1, with: String.withheld, options: .literal)
            }
        }
        return OAuthError(
            OAuthError.Code(rawValue: shown(answer.error)), answer.error_description.map(shown), uri: answer.error_uri.map(shown),
            status: response.status)
    }
}

extension OAuthTokenEndpoint: CustomStringConvertible, CustomReflectable {
    /// The URL without its secrets, and the client.
    public var description: String { "token endpoint \(URLText.redacted(url)) of \(client)" }
    /// Shows what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["url": URLText.redacted(url), "client": client]) }
}

/// A number of seconds, which some servers send as a string.
private struct Seconds: Decodable {
    /// Nil: there is no end, which some servers say by zero.
    let value: TimeInterval?

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let value = try (try? container.decode(TimeInterval.self)) ?? TimeInterval(container.decode(String.self)) ?? .nan
        // An answer that makes no sense counts as an end that is due, not as a token without one.
        self.value = value == 0 ? nil : value.isFinite ? min(max(0, value), 1e10) : 0
    }
}

/// The scopes of a token, which some servers send as a list. A token is good whatever its scope looks like.
private struct Scope: Decodable {
    let text: String?

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        text = (try? container.decode(String.self)) ?? (try? container.decode([String].self))?.joined(separator: " ")
    }
}
