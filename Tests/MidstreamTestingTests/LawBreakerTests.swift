import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

/// An interceptor that breaks a law is found out, and the law is named.
@Suite("Interceptors that break a law", .leavesNothing, .timeLimit(.minutes(10)))
struct LawBreakerTests {
    private static let breakers: [InterceptorLaw: [any HTTPInterceptor]] = [
        .preservesBodies: [
            ClosureHTTPInterceptor("TakesBytesForText") { request, next in
                var response = try await next(request)
                response.body = .text(String(decoding: try await response.body.collect(), as: UTF8.self))
                return response
            },
            ClosureHTTPInterceptor("DropsTheBody") { request, next in
                var request = request
                request.body = .empty
                return try await next(request)
            },
            ClosureHTTPInterceptor("ReplacesWhatIsInMemory") { request, next in
                var response = try await next(request)
                if response.body.bytes != nil { response.body = .bytes([1, 2, 3]) }
                return response
            },
            ClosureHTTPInterceptor("ReplacesWhatIsSentFromMemory") { request, next in
                var request = request
                if request.body.bytes?.isEmpty == false { request.body = .bytes([1, 2, 3]) }
                return try await next(request)
            },
            ClosureHTTPInterceptor("ReadsWhatIsSent") { request, next in
                _ = try await request.body.collect()
                return try await next(request)
            },
        ],
        .endsInTime: [Overstayer(), Overstayer(isAsked: true)],
        .impersonal: [
            Personal { $0.headers[.authorization] = "Bearer mine" },
            Personal { $0.addQuery("key", "mine") },
            Personal { [kept = Locked<String?>(nil)] request in
                let own = request.headers[.authorization]
                request.headers[.authorization] = kept.withLock { kept in
                    kept = own ?? kept
                    return kept
                }
            },
            AnswersChallenges(),
        ],
        .passesCancellation: [
            ClosureHTTPInterceptor("WrapsCancellation") { request, next in
                do {
                    return try await next(request)
                } catch is CancellationError {
                    throw HTTPError(.timeout)
                }
            },
            RankedWrapper(),
            ClosureHTTPInterceptor("AnswersByItself") { request, _ in HTTPResponse(status: 200, request: request) },
            ClosureHTTPInterceptor("RefusesAll") { request, _ in throw HTTPError(.unsupported, request: request) },
        ],
        .isReusableConcurrently: [
            ClosureHTTPInterceptor("KeepsACallInItself") { [kept = Locked<HTTPRequest?>(nil)] request, next in
                kept.withLock { $0 = request }
                await Task.yield()
                return try await next(kept.withLock { $0 } ?? request)
            },
            ClosureHTTPInterceptor("CrossesResponseBodies") { [kept = Locked<HTTPBody?>(nil)] request, next in
                var response = try await next(request)
                let body = HTTPBody.bytes(try await response.body.collect())
                response.body = kept.withLock { kept in
                    defer { kept = body }
                    return kept ?? body
                }
                return response
            },
            ClosureHTTPInterceptor("CrossesRequestBodies") { [kept = Locked<HTTPBody?>(nil)] request, next in
                var request = request
                let body = request.body
                request.body = kept.withLock { kept in
                    defer { kept = body }
                    return kept ?? body
                }
                return try await next(request)
            },
        ],
        .closesWhatItKeepsBack: [
            ClosureHTTPInterceptor("ThrowsAResponseAway") { request, next in
                let response = try await next(request)
                return response.status == .unauthorized ? try await next(request) : HTTPResponse(status: 200, request: request)
            },
            ClosureHTTPInterceptor("HandsOnAClosedOne") { request, next in
                let response = try await next(request)
                response.body.close()
                return response
            },
            ClosureHTTPInterceptor("LeavesOneOpenAfterAChunk") { request, next in
                let response = try await next(request)
                guard response.status == .unauthorized else { return response }
                for try await _ in response.body { break }
                return HTTPResponse(status: 200, request: request)
            },
        ],
        .passesErrors: [
            ClosureHTTPInterceptor("WrapsErrors") { request, next in
                do {
                    return try await next(request)
                } catch {
                    throw HTTPError(.connection, underlying: error)
                }
            },
            ClosureHTTPInterceptor("LosesThePhase") { request, next in
                do {
                    return try await next(request)
                } catch let error as HTTPError {
                    throw HTTPError(error.code, error.message, underlying: error.underlying)
                }
            },
            ClosureHTTPInterceptor("LosesWhatIsBehind") { request, next in
                do {
                    return try await next(request)
                } catch let error as HTTPError {
                    throw HTTPError(error.code, error.message, phase: error.phase)
                }
            },
            ClosureHTTPInterceptor("SwallowsErrors") { request, next in
                (try? await next(request)) ?? HTTPResponse(status: 200, request: request)
            },
            ClosureHTTPInterceptor("SwallowsHTTPErrors") { request, next in
                do {
                    return try await next(request)
                } catch is HTTPError {
                    return HTTPResponse(status: 200, request: request)
                }
            },
        ],
        .plansWhatItDoes: [
            ClosureHTTPInterceptor("PlansNothing") { request, next in
                var request = request
                request.headers["X-Unplanned"] = "1"
                return try await next(request)
            } plan: { _ in
                .known("would do nothing")
            },
            ClosureHTTPInterceptor("PlansAnotherMethod") { request, next in
                try await next(request)
            } plan: { request in
                request.method = .put
                return .known()
            },
            ClosureHTTPInterceptor("PlansAnotherURL") { request, next in
                try await next(request)
            } plan: { request in
                request.addQuery("page", "2")
                return .known()
            },
            ClosureHTTPInterceptor("PlansToPassOn") { request, _ in
                HTTPResponse(status: 200, request: request)
            } plan: { _ in
                .known()
            },
            ClosureHTTPInterceptor("PlansOneOfTwo") { request, next in
                var request = request
                for _ in 1...2 { request.headers.add("X-Planned", "1") }
                return try await next(request)
            } plan: { request in
                request.headers.add("X-Planned", "1")
                return .known()
            },
        ],
    ]

    /// Promises to end in time, and waits for an hour, in any case or when a server asks for that.
    private struct Overstayer: HTTPInterceptor {
        let traits = InterceptorTraits.endsInTime
        var isAsked = false

        func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
            if isAsked {
                let response = try await next(request)
                guard response.status == .serviceUnavailable else { return response }
                response.body.close()
            }
            try await Task.sleep(for: .seconds(3_600))
            return try await next(request)
        }
    }

    /// Promises to do the same for everybody, and adds a credential when it is asked for one.
    private struct AnswersChallenges: HTTPInterceptor {
        let traits = InterceptorTraits.impersonal

        func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
            let response = try await next(request)
            guard response.status == .unauthorized else { return response }
            response.body.close()
            var request = request
            request.headers[.authorization] = "Bearer mine"
            return try await next(request)
        }
    }

    /// Wraps a cancellation further out than what has no rank.
    private struct RankedWrapper: HTTPInterceptor {
        let rank = InterceptorRank.concurrency

        func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
            do {
                return try await next(request)
            } catch is CancellationError {
                throw HTTPError(.timeout)
            }
        }
    }

    /// Promises to do the same for everybody, and adds a credential.
    private struct Personal: HTTPInterceptor {
        let traits = InterceptorTraits.impersonal
        let change: @Sendable (inout HTTPRequest) -> Void

        func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
            var request = request
            change(&request)
            return try await next(request)
        }
    }

    @Test(arguments: InterceptorLaw.allCases)
    func areFound(_ law: InterceptorLaw) async throws {
        let breakers = try #require(Self.breakers[law])
        for breaker in breakers {
            let violation = await #expect(throws: InterceptorLawViolation.self) {
                try await assertInterceptorLaws([law]) { breaker }
            }
            #expect(violation?.law == law)
        }
    }

    /// One that can only do with bytes in memory.
    private struct Measures: RequestInterceptor {
        func intercept(request: inout HTTPRequest) async throws {
            guard let bytes = request.body.bytes else { throw HTTPError(.unsupported, "A stream can't be measured.") }
            request.headers["X-Length"] = "\(bytes.count)"
        }
    }

    @Test("a body that is given is the one that is tried")
    func givenBody() async throws {
        await #expect(throws: HTTPError.self) {
            try await assertInterceptorLaws([.preservesBodies]) { Measures() }
        }
        let request = HTTPRequest(.put, "http://laws.test/", body: .bytes([0, 1, 255]))
        try await assertInterceptorLaws(request: request) { Measures() }
        await #expect(throws: InterceptorLawViolation.self) {
            try await assertInterceptorLaws([.preservesBodies], request: request) {
                ClosureRequestInterceptor { $0.body = .bytes([0, 1]) }
            }
        }
    }
}
