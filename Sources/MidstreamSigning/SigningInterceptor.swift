public import Interception
public import MidstreamCore

/// Signs each request that goes on the wire to one of its origins.
///
/// It stands at ``InterceptorStage/exchange`` with the rank ``InterceptorRank/signing``, so that what
/// cookies and caches add is signed too. One of ordinary rank that changes the request there makes the signature wrong. A redirect to another
/// origin goes unsigned: when the server has copied a signature in the query to its `Location`, that is taken out of it.
public struct SigningInterceptor<Signer: RequestSigner>: HTTPInterceptor {
    /// What signs.
    public let signer: Signer
    private let scope: CredentialScope

    /// Makes an interceptor.
    ///
    /// - Parameter origins: URLs whose origins get signed requests. nil, the default: the origin of the client's base URL; for a client
    ///   without one, that of the first request. A text that is no http or https URL makes calls fail with
    ///   ``HTTPError/Code/invalidRequest``.
    public init(_ signer: Signer, origins: [String]? = nil) {
        self.signer = signer
        scope = CredentialScope(origins)
    }

    /// `.exchange`.
    public var stage: InterceptorStage { .exchange }

    /// `.signing`.
    public var rank: InterceptorRank { .signing }

    /// Signs the request and passes it on, and keeps what that has added to the query out of a redirect to another origin.
    ///
    /// - Throws: What the signer and `next` throw.
    public func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        guard try scope.contains(request.urlText, in: next.call) else {
            next.position.note({ Self.refusal }, about: request)
            return try await next(request)
        }
        var signed = request
        try await signer.sign(&signed)
        var response = try await next(signed)
        // Here rather than on the hop, which doesn't show by whom its URL was signed.
        if let location = response.headers.values(.location).first,
            let target = URLText.resolve(location: location, from: signed.urlText), try !scope.contains(target, in: next.call)
        {
            let added = Self.items(of: signed.urlText).subtracting(Self.items(of: request.urlText))
            if !added.isEmpty, added.isSubset(of: Self.items(of: location)) {
                response.headers[.location] = URLText.removing(from: location) { added.contains(Self.decoded($0)) }
            }
        }
        return response
    }

    private static var refusal: String { "doesn't sign for this origin" }

    /// As they read: who copies them may encode them otherwise.
    private static func items(of url: String) -> Set<[UInt8]> {
        Set(URLText(url).items.map(decoded))
    }

    private static func decoded(_ item: Substring) -> [UInt8] { Array(item.utf8).percentDecoded() }

    /// The signer's; `.nobody` for other origins.
    public func identity(of request: HTTPRequest) -> RequestIdentity {
        (try? scope.contains(request.urlText)) == false ? .nobody : signer.identity
    }

    /// `.unknown` when the request would be signed: signing may take credentials from elsewhere.
    public func plan(_ request: inout HTTPRequest) async throws -> RequestPlan {
        try scope.contains(request.urlText) ? .unknown("would sign the request") : .known(Self.refusal)
    }
}

extension SigningInterceptor: CustomReflectable {
    /// Shows the kind of signer.
    public var customMirror: Mirror { Mirror(self, children: ["signer": "\(Signer.self)"]) }
}
