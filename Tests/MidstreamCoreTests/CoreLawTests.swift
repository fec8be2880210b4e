import Foundation
import Interception
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamCore

/// The core's own interceptors keep to the laws that others are checked by.
@Suite("The core's interceptors keep to the laws", .leavesNothing, .timeLimit(.minutes(10)))
struct CoreLawTests {
    private let mark = ClosureRequestInterceptor { $0.headers["X-Mark"] = "1" }
    private let look = ClosureResponseInterceptor { $0.headers["X-Seen"] = "1" }
    private let pass = ClosureHTTPInterceptor { request, next in try await next(request) }

    @Test func closures() async throws {
        try await assertInterceptorLaws { mark }
        try await assertInterceptorLaws { look }
        try await assertInterceptorLaws { pass }
    }

    @Test func otherStages() async throws {
        for stage in InterceptorStage.allCases {
            try await assertInterceptorLaws { StagedInterceptor(base: pass, stage: stage) }
        }
    }

    @Test func chains() async throws {
        let chains: [any HTTPInterceptor] = [
            ChainedRequestInterceptor.chain(inOrder: [mark, mark]), ChainedResponseInterceptor.chain(inOrder: [look, look]),
            ChainedHTTPInterceptor.chain(inOrder: [mark, pass, look]),
        ]
        for chain in chains {
            try await assertInterceptorLaws { chain }
            // A pipeline takes the chain apart; here it runs as the one interceptor that it is.
            try await assertInterceptorLaws { ClosureHTTPInterceptor { try await chain.intercept($0, next: $1) } }
        }
    }

    private struct Hooks: LifecycleInterceptor {
        let steps = Steps()

        func modifyRequest(_ request: HTTPRequest) async throws -> HTTPRequest {
            var request = request
            request.headers["X-Hook"] = "1"
            return request
        }
        func modifyResponse(_ response: HTTPResponse) async throws -> HTTPResponse {
            var response = response
            response.headers["X-Hook"] = "1"
            return response
        }
        func willSend(_ request: HTTPRequest) async { steps.note("sends") }
        func didReceiveSuccess(_ response: HTTPResponse) async throws {
            if response.status.isServerError { throw Failure() }
        }
        func didReceiveFailure(_ error: any Error, for request: HTTPRequest) async { steps.note("failed") }
    }

    private struct Bare: LifecycleInterceptor {}

    @Test func lifecycleHooks() async throws {
        try await assertInterceptorLaws { Bare() }
        try await assertInterceptorLaws { Hooks() }
    }

    /// One in callback style, which is one of HTTP besides.
    private struct Callback: CompletionInterceptor, HTTPInterceptor {
        func intercept(
            _ input: HTTPRequest, next: CompletionNext<HTTPRequest, HTTPResponse>,
            completion: @escaping @Sendable (Result<HTTPResponse, any Error>) -> Void
        ) {
            next(input) { completion($0) }
        }
    }

    @Test func completionHandlers() async throws {
        try await assertInterceptorLaws { Callback() }
    }

    @Test func builtIn() async throws {
        var settings = ArbiterSettings()
        for validators: [any HTTPValidator] in [[DefaultValidator()], []] {
            settings.validators = validators
            try await assertInterceptorLaws { [settings] in Arbiter(settings) }
        }
        try await assertInterceptorLaws { Redirects(policy: .follow(limit: 10)) }
        try await assertInterceptorLaws { Redirects(policy: .refuse) }
    }
}
