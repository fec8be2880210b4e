import Foundation
import Midstream
import MidstreamSigning

/// Who asks. Credentials go to the URL's origin alone.
enum Identity {
    case nobody
    case basic(Login)
    case digest(Login)
    case bearer(String)
    case aws(AWSCredentials, region: String, service: String)

    struct Login: Equatable {
        var user = ""
        var password = ""
    }

    init(
        user: String?, bearer: String?, isDigest: Bool, signature: (region: String, service: String)?, netrc: String?,
        host: String?
    ) throws {
        if let bearer {
            guard user == nil, !isDigest, signature == nil else { throw UsageError("one of -u, --bearer and --aws-sigv4") }
            self = .bearer(bearer)
            return
        }
        var login = try user.map(Self.login)
        if login == nil, let netrc, let host { login = try Netrc(contentsOf: netrc).login(for: host) }
        if let signature {
            self = .aws(try Self.credentials(login), region: signature.region, service: signature.service)
        } else if let login {
            self = isDigest ? .digest(login) : .basic(login)
        } else if isDigest {
            throw UsageError("--digest needs -u USER:PASSWORD")
        } else {
            self = .nobody
        }
    }

    private static func login(_ text: String) throws -> Login {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        if parts.count == 2 { return Login(user: parts[0], password: parts[1]) }
        guard isatty(STDIN_FILENO) == 1, let password = try PasswordPrompt.ask("Password for \(text): ") else {
            throw UsageError("user and password are written USER:PASSWORD; -u @FILE keeps them to yourself")
        }
        return Login(user: text, password: password)
    }

    private static func credentials(_ login: Login?) throws -> AWSCredentials {
        if let login { return AWSCredentials(accessKeyID: login.user, secretAccessKey: login.password) }
        // A script unsets a variable by leaving it empty as well.
        let environment = ProcessInfo.processInfo.environment.filter { !$0.value.isEmpty }
        guard let key = environment["AWS_ACCESS_KEY_ID"], let secret = environment["AWS_SECRET_ACCESS_KEY"] else {
            throw UsageError("--aws-sigv4 needs -u KEY:SECRET, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
        }
        return AWSCredentials(accessKeyID: key, secretAccessKey: secret, sessionToken: environment["AWS_SESSION_TOKEN"])
    }

    /// What authenticates requests to the origin of a URL.
    func interceptors(for url: String) -> [any HTTPInterceptor] {
        switch self {
        case .nobody: []
        case .bearer(let token): [AuthenticationInterceptor(BearerAuthenticator(token: token), origins: [url])]
        case .digest(let login): [DigestInterceptor(user: login.user, password: login.password, origins: [url])]
        case .basic(let login):
            [AuthenticationInterceptor(BasicAuthenticator(user: login.user, password: login.password), origins: [url])]
        case .aws(let credentials, let region, let service):
            [SigningInterceptor(AWSSignerV4(credentials, region: region, service: service), origins: [url])]
        }
    }
}
