import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("E. The default validator", .leavesNothing)
struct DefaultValidatorTests {
    private let bench = ArbiterBench()

    @Test(
        "E8 statuses outside 200..<400 fail, with the response and its body",
        arguments: [199, 200, 204, 304, 399, 400, 404, 500, 599])
    func statuses(code: Int) async throws {
        let stub = StubTransport(status: HTTPStatus(code), body: .text("why"))
        let result = await bench.waits(0, of: bench.client(stub)).result
        if (200..<400).contains(code) {
            #expect(try result.get().status.code == code)
        } else {
            #expect(result.httpError?.code == .unacceptableStatus && result.httpError?.response?.body.text == "why")
        }
    }

    @Test("E8 it takes other statuses")
    func acceptable() async throws {
        let validator = DefaultValidator(acceptableStatus: [404])
        #expect(try await bench.client(StubTransport(status: 404), validators: [validator]).send(HTTPRequest("/")).status == 404)
        let error = await httpError {
            try await bench.client(StubTransport.ok, validators: [validator]).send(HTTPRequest("/"))
        }
        #expect(error?.code == .unacceptableStatus)
    }

    @Test("A request says what is an answer to it, and the other validators are asked")
    func acceptableToARequest() async throws {
        var request = HTTPRequest("/")
        request.acceptableStatus = .all
        #expect(try await bench.client(StubTransport(status: 418)).send(request).status == 418)
        let busy = StubTransport(status: 503)
        #expect(try await bench.waits(2, of: bench.client(busy, maxRetries: 2), request).result.get().status == 503)
        #expect(busy.requests.count == 3)
        let picky = CallbackValidator { response, _ in .fail(HTTPError(.validation, "No.", response: response)) }
        let client = bench.client(StubTransport(status: 418), validators: [DefaultValidator(), picky])
        let error = await httpError { try await client.send(request) }
        #expect(error?.code == .validation)
        request.acceptableStatus = [404]
        let refused = await httpError { try await bench.client(StubTransport.ok).send(request) }
        #expect(refused?.code == .unacceptableStatus)
    }

    @Test("E8 empty responses pass by default")
    func emptyByDefault() async throws {
        #expect(try await bench.client(StubTransport.ok).send(HTTPRequest("/")).status == .ok)
    }

    @Test(
        "E8 where they may not be empty, 204, 205, 304 and answers to HEAD may all the same",
        arguments: [
            (200, HTTPMethod.get, false), (201, .post, false), (204, .get, true), (205, .post, true), (304, .get, true),
            (200, .head, true),
        ])
    func empty(code: Int, method: HTTPMethod, passes: Bool) async throws {
        let client = bench.client(
            StubTransport(status: HTTPStatus(code)), validators: [DefaultValidator(allowsEmptyResponses: false)])
        let result = await bench.waits(0, of: client, HTTPRequest(method, "/")).result
        if passes {
            #expect(try result.get().status.code == code)
        } else {
            #expect(result.httpError?.code == .emptyResponse && result.httpError?.response?.status.code == code)
        }
        let full = StubTransport(status: HTTPStatus(code), body: .text("x"))
        let validators = [DefaultValidator(allowsEmptyResponses: false)]
        #expect(try await bench.client(full, validators: validators).send(HTTPRequest(method, "/")).status.code == code)
    }

    @Test(
        "E8 these statuses are retried by default, others aren't",
        arguments: [400, 401, 403, 404, 408, 425, 429, 500, 501, 502, 503, 504])
    func retriable(code: Int) async throws {
        let isRetriable = [429, 503, 502, 504, 408].contains(code)
        let stub = StubTransport { HTTPResponse(status: $0.attempt <= 2 ? HTTPStatus(code) : 200, request: $0) }
        let (delays, result) = await bench.waits(isRetriable ? 2 : 0, of: bench.client(stub, maxRetries: 2))
        if isRetriable {
            #expect(try result.get().status == .ok)
            let isThrottled = code == 429 || code == 503
            #expect(delays == (isThrottled ? [.seconds(1), .seconds(2)] : [.milliseconds(50), .milliseconds(100)]))
        } else {
            #expect(result.httpError?.code == .unacceptableStatus && stub.requests.count == 1)
        }
    }

    @Test(
        "E8 these failures are retried by default, others aren't",
        arguments: [
            HTTPError.Code.timeout, .connection, .connectionLost, .nameResolution, .tls, .proxy, .protocolViolation,
            .bodyTooLarge,
            .invalidRequest, .bodyUnreadable, .decoding, .unsupported,
        ])
    func retriableFailures(code: HTTPError.Code) async throws {
        let isRetriable = [.timeout, .connection, .connectionLost, .nameResolution].contains(code)
        let stub = StubTransport { request in
            guard request.attempt > 2 else { throw HTTPError(code) }
            return HTTPResponse(status: .ok, request: request)
        }
        let (delays, result) = await bench.waits(isRetriable ? 2 : 0, of: bench.client(stub, maxRetries: 2))
        if isRetriable {
            #expect(try result.get().status == .ok)
            #expect(delays == [.milliseconds(50), .milliseconds(100)])
        } else {
            #expect(result.httpError?.code == code && stub.requests.count == 1)
        }
    }

    @Test("E8 what is retried and how can be said")
    func ownRetries() async {
        let validator = DefaultValidator(
            retriableStatus: [500: .delayed(.seconds(3))], retriableErrors: [.tls: .delayed(.seconds(4))])
        let stub = StubTransport(sequence: [.respond(500), .fail(HTTPError(.tls)), .respond(503)])
        let (delays, result) = await bench.waits(2, of: bench.client(stub, maxRetries: 5, validators: [validator]))
        #expect(delays == [.seconds(3), .seconds(4)] && result.httpError?.response?.status == 503)
        #expect(result.httpError?.code == .unacceptableStatus)
    }

    @Test("E8 other people's errors aren't retried")
    func userErrors() async {
        let stub = StubTransport { _ in throw Failure("mine") }
        await #expect(throws: Failure("mine")) { try await bench.client(stub, maxRetries: 3).send(HTTPRequest("/")) }
        #expect(stub.requests.count == 1)
    }
}
