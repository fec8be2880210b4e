import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("E. Work before a retry", .leavesNothing)
struct AfterTaskTests {
    private let bench = ArbiterBench()
    private let steps = Steps()
    private let stub = StubTransport { HTTPResponse(status: $0.headers["X-Token"] == nil ? 401 : 200, request: $0) }

    @Test("E6 the work changes the original, which is sent again after the delay")
    func work() async throws {
        let steps = steps
        let client = bench.client(
            stub,
            validators: [
                AlwaysRetry(
                    .afterTask(delay: .seconds(4)) { request in
                        steps.note("\(request.urlText) \(request.headers.contains("X-Token"))")
                        request.headers["X-Token"] = "t"
                    })
            ])
        let (delays, result) = await bench.waits(1, of: client, HTTPRequest(.post, "/books"))
        #expect(try result.get().status == .ok && delays == [.seconds(4)])
        #expect(steps.all == ["https://h/books false"])
        #expect(stub.requests.map(\.attempt) == [1, 2] && Set(stub.requests.map(\.id)).count == 1)
    }

    @Test("E6 an error of the work goes to onError, and the original is sent again as it was")
    func failingWork() async throws {
        let steps = steps
        let client = bench.client(
            stub,
            validators: [
                AlwaysRetry(
                    .afterTask { request in
                        request.headers["X-Token"] = "half-way"
                        throw Failure("work")
                    } onError: {
                        steps.note("\($0)")
                    })
            ])
        let error = await httpError { try await client.send(HTTPRequest("/")) }
        #expect(error?.code == .unacceptableStatus && error?.response?.status == .unauthorized)
        #expect(steps.all.count == 1 && steps.all.first?.contains("work") == true)
        #expect(stub.requests.count == 2 && stub.requests.last?.headers["X-Token"] == nil)
        #expect(error?.trace?.arbiterNotes.contains { $0.contains("the work before attempt 2 failed") } == true)
    }

    @Test("A cancellation of something else that the work has waited for is such an error, too")
    func cancelledElsewhere() async throws {
        let steps = steps
        let client = bench.client(
            stub,
            validators: [
                AlwaysRetry(
                    .afterTask { _ in
                        throw CancellationError()
                    } onError: {
                        steps.note("\($0)")
                    })
            ])
        let error = await httpError { try await client.send(HTTPRequest("/")) }
        #expect(error?.response?.status == .unauthorized && steps.all.count == 1 && stub.requests.count == 2)
    }

    @Test("E6 without onError an error of the work is only in the trace")
    func unheardError() async {
        let client = bench.client(stub, maxRetries: 2, validators: [AlwaysRetry(.afterTask { _ in throw Failure() })])
        #expect(await httpError { try await client.send(HTTPRequest("/")) }?.code == .retriesExhausted)
        #expect(stub.requests.count == 3)
    }

    @Test("E6 a request that the work puts in the original's place stays part of the call")
    func replacement() async throws {
        let client = bench.client(
            stub, validators: [AlternateTaskValidator { $0 = HTTPRequest("https://h/", headers: ["X-Token": "t"]) }])
        var request = HTTPRequest("/")
        request.deadlineCoversBody = true
        let response = try await client.send(request)
        #expect(response.status == .ok && response.body.bytes != nil && stub.requests.last?.id == request.id)
        #expect(stub.requests.last?.deadlineCoversBody == true)
    }

    @Test("E9 AlternateTaskValidator: 401 and 403, no retries needed", arguments: [401, 402, 403, 407, 500])
    func validator(code: Int) async throws {
        let stub = StubTransport { HTTPResponse(status: $0.attempt == 1 ? HTTPStatus(code) : 200, request: $0) }
        let client = bench.client(stub, validators: [AlternateTaskValidator { _ in }])
        _ = try await client.send(HTTPRequest("/"))
        #expect(stub.requests.count == (code == 401 || code == 403 ? 2 : 1))
    }

    @Test("E9 AlternateTaskValidator: no response at all where that is asked for", arguments: [false, true])
    func withoutResponse(isAskedFor: Bool) async {
        let stub = StubTransport { _ in throw HTTPError(.connectionLost) }
        let steps = steps
        let client = bench.client(
            stub, validators: [AlternateTaskValidator(alsoWithoutResponse: isAskedFor) { _ in steps.note("work") }])
        #expect(await httpError { try await client.send(HTTPRequest("/")) }?.code == .connectionLost)
        #expect(stub.requests.count == (isAskedFor ? 2 : 1) && steps.all.count == (isAskedFor ? 1 : 0))
    }
}
