internal import MidstreamCore

/// One challenge of a `WWW-Authenticate` field (RFC 9110 §11.6.1): a scheme and its parameters, or a token in their place.
struct AuthenticationChallenge: Sendable, Hashable {
    let scheme: String
    /// Names in small letters.
    let parameters: [String: String]

    /// The challenges of all fields of the name, in order. What can't be understood is left out.
    static func all(in headers: HTTPHeaders) -> [AuthenticationChallenge] {
        headers.values(.wwwAuthenticate).flatMap(challenges(in:))
    }

    /// The limits of challenges in a field and of parameters in a challenge; the rest is ignored.
    private static let maximumParts = 64

    private static func challenges(in field: String) -> [AuthenticationChallenge] {
        var scanner = FieldValueScanner(field)
        var challenges: [AuthenticationChallenge] = []
        scanner.skipSeparators(",")
        var next = scanner.token()
        while let scheme = next, challenges.count < maximumParts {
            let (values, follower) = parameters(&scanner)
            challenges.append(AuthenticationChallenge(scheme: scanner.text(scheme), parameters: values))
            next = follower
        }
        return challenges
    }

    /// Parameters up to the end or the scheme of the next challenge, which is a token that no `=` follows. Commas part both
    /// challenges and parameters.
    fileprivate static func parameters(
        _ scanner: inout FieldValueScanner
    ) -> (values: [String: String], nextScheme: FieldValueScanner.Part?) {
        var values: [String: String] = [:]
        var count = 0
        while true {
            // Over commas and, since it makes no difference here, the rest of a token68 or rubbish.
            scanner.skipToToken()
            // Small servers send texts without quotation marks, and empty ones.
            guard let parameter = scanner.parameter(takesAnything: true) else { return (values, nil) }
            guard parameter.hasMark else { return (values, parameter.name) }
            count += 1
            guard count <= maximumParts, let value = parameter.value else { continue }
            let name = scanner.lowercasedText(parameter.name)
            if values[name] == nil { values[name] = scanner.text(value) }
        }
    }
}

/// Parameters such as those of `Authentication-Info` (RFC 7615 §3).
func parameters(of field: String) -> [String: String] {
    var scanner = FieldValueScanner(field)
    return AuthenticationChallenge.parameters(&scanner).values
}
