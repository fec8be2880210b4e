public import Interception
public import MidstreamCore

/// Sends the cookies of a jar, and keeps those that servers set (RFC 6265).
///
/// It stands at ``InterceptorStage/exchange``, so each attempt and each hop of a redirect gets the cookies of its own URL, and those of
/// every answer are kept, whatever its status, and those of a challenge or a rejection that an interceptor further in answers, if it
/// says so (``InterceptorTraits/givesUpAnswers``). In the list it goes before what signs requests or logs them.
///
/// A `Cookie` header that the request has itself stays as it is: the jar adds those whose names it lacks. A `Set-Cookie` that a
/// server may not send is ignored; the trace names it and the reason. Values appear nowhere but on the wire.
public struct CookieInterceptor: HTTPInterceptor {
    /// Where the cookies are.
    public let jar: CookieJar

    /// Makes an interceptor.
    ///
    /// - Parameter jar: Where the cookies are kept; by default an empty jar of its own.
    public init(_ jar: CookieJar = CookieJar()) { self.jar = jar }

    /// `.exchange`.
    public var stage: InterceptorStage { .exchange }

    /// `.cookies`.
    public var rank: InterceptorRank { .cookies }

    /// It waits for nothing of its own.
    public var traits: InterceptorTraits { .endsInTime }

    /// Adds the cookies, and keeps those of the response.
    ///
    /// - Throws: What `next` throws, and nothing else.
    public func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        var request = request
        let removals = jar.removals
        let added = Self.add(jar.take(for: request.urlText), to: &request)
        if next.mayGiveUpAnswers { keepGivenUp(in: &request, with: added, since: removals) }
        let response = try await next(request)
        keep(response, since: removals)
        return response
    }

    private func keep(_ response: HTTPResponse, since removals: Int) {
        // A stored response's were taken when it came from the server.
        guard response.headers.contains(.setCookie) else { return }
        let fields = response.receivedHeaders.values(.setCookie)
        guard !fields.isEmpty else { return }
        // An interceptor further in may have sent it elsewhere.
        let times = response.receivedHeaders.serverTimes
        let outcomes = jar.store(fields, from: response.request.urlText, at: times, since: removals)
        response.note(outcomes.map(\.description).joined(separator: ", "))
    }

    /// Has the cookies kept of answers that aren't handed on, and the request that takes their place, or has waited further in, bring what
    /// the jar has by then.
    ///
    /// - Parameter added: The cookies that the request has of the jar. All others stay: they are the caller's, or an interceptor's further in.
    private func keepGivenUp(in request: inout HTTPRequest, with added: [Cookie], since removals: Int) {
        let (pairs, outer) = (Locked(Set(added.map(\.pair))), request.onGivenUp)
        request.onGivenUp = { response, request in
            outer?(response, &request)
            if let response { keep(response, since: removals) }
            let (old, present) = (pairs.withLock { $0 }, request.headers.cookiePairs)
            let others = present.filter { !old.contains($0) }
            // Where there is nothing to take away, a header of the caller stays as it is, also one that was refused.
            if others.count < present.count { request.headers[.cookie] = others.isEmpty ? nil : others.joined(separator: "; ") }
            let new = Self.add(jar.take(for: request.urlText), to: &request)
            pairs.withLock { $0.formUnion(new.map(\.pair)) }
        }
    }

    /// Adds the cookies, and names them.
    public func plan(_ request: inout HTTPRequest) async throws -> RequestPlan {
        let names = Self.add(jar.cookies(for: request.urlText), to: &request).map(\.name)
        return .known(names.isEmpty ? "no cookies for this URL" : "adds \(names.joined(separator: ", "))")
    }

    /// `.nobody`: the plan shows the cookies.
    public func identity(of request: HTTPRequest) -> RequestIdentity { .nobody }

    /// Adds those cookies that the request doesn't have itself, in one field with its own (RFC 6265 §5.4), and returns them.
    private static func add(_ cookies: [Cookie], to request: inout HTTPRequest) -> [Cookie] {
        // A header that was refused has to stay so, for the error that sending throws.
        guard !cookies.isEmpty, !request.headers.refused.contains(.cookie) else { return [] }
        let pairs = request.headers.cookiePairs
        let own = Set(pairs.map { $0.utf8.prefix { $0 != UInt8(ascii: "=") }.trimmed }.map { String(Substring($0)) })
        let added = cookies.filter { !own.contains($0.name) }
        guard !added.isEmpty else { return [] }
        request.headers[.cookie] = (pairs + added.map(\.pair)).joined(separator: "; ")
        return added
    }
}

extension ChainedHTTPInterceptor {
    /// Keeps and sends cookies; see ``CookieInterceptor``.
    ///
    /// - Parameter jar: Where they are kept; by default an empty jar of its own.
    public static func cookies(_ jar: CookieJar = CookieJar()) -> Self {
        .chain(inOrder: [CookieInterceptor(jar)])
    }
}

extension HTTPInterceptor {
    /// The same for a line that follows another.
    public func cookies(_ jar: CookieJar = CookieJar()) -> ChainedHTTPInterceptor {
        chain(before: CookieInterceptor(jar))
    }
}

extension CookieInterceptor: CustomStringConvertible, CustomReflectable {
    /// How many cookies there are.
    public var description: String { "cookies: \(jar)" }
    /// Shows what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["jar": "\(jar)"]) }
}
