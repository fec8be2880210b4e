import Foundation
import MidstreamCore
import TestSupport
import Testing

@testable import MidstreamURLSession

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite(.leavesNothing, .timeLimit(.minutes(10))) struct CancellationTests {
    private let transport = urlSessionTransport()
    // Of a type that nobody has to guess: the first 512 bytes might be held back for that.
    private let endless =
        "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: 1000000\r\n\r\nhello"

    /// A server that sends the text and waits for the client to go.
    private func server(sending text: String, _ asked: Gate, _ gone: Gate) throws -> RawServer {
        try RawServer { connection in
            _ = connection.readRequest()
            connection.write(text)
            asked.open()
            connection.waitForClose()
            gone.open()
        }
    }

    #if canImport(FoundationNetworking)
        /// Chunks without end, whose reader isn't told of its cancellation: each at once, or none.
        private struct Endless: AsyncSequence, AsyncIteratorProtocol, Sendable {
            let isSilent: Bool
            let asked: Gate
            let end: Gate

            func makeAsyncIterator() -> Endless { self }

            mutating func next() async throws -> [UInt8]? {
                asked.open()
                if isSilent { await end.wait() }
                return isSilent ? nil : Array(repeating: 0, count: 1_000)
            }
        }

        @Test(arguments: [true, false], ["cancellation", "timeout", "deadline"])
        func whileABodyIsReadACallEndsToo(isSilent: Bool, by limit: String) async throws {
            let (asked, end) = (Gate(), Gate())
            let server = try RawServer.echoing()
            var request = HTTPRequest(
                .put, server.url, body: .stream { Endless(isSilent: isSilent, asked: asked, end: end) })
            if limit == "timeout" { request.timeout = .milliseconds(50) }
            if limit == "deadline" { request.deadline = .milliseconds(50) }
            let client = testClient(transport: transport)
            let task = Task { [request] in try await client.send(request) }
            // A limit may be over on a busy machine before anything is asked for.
            if limit == "cancellation" {
                await asked.wait()
                task.cancel()
            }
            do {
                _ = try await task.value
                Issue.record("It ended as if nothing had happened.")
            } catch is CancellationError {
                #expect(limit == "cancellation")
            } catch let error as HTTPError {
                #expect(error.code == (limit == "timeout" ? .timeout : .deadlineExceeded))
            }
            end.open()
        }
    #endif

    @Test(arguments: [true, false]) func cancellingBeforeTheHeadEndsBothSides(isBuffered: Bool) async throws {
        let (asked, gone) = (Gate(), Gate())
        let server = try server(sending: "", asked, gone)
        let request = isBuffered ? HTTPRequest(server.url).buffered() : HTTPRequest(server.url)
        let task = Task { try await transport.deliver(request) }
        await asked.wait()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await gone.wait()
    }

    @Test func cancellingWhileReadingEndsBothSides() async throws {
        let (asked, gone) = (Gate(), Gate())
        let server = try server(sending: endless, asked, gone)
        let task = Task { try await transport.deliver(HTTPRequest(server.url)).text() }
        await asked.wait()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await gone.wait()
    }

    @Test func aCancelledTaskSendsNothing() async throws {
        let server = try RawServer.echoing()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await transport.deliver(HTTPRequest(server.url))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(server.connectionCount == 0)
    }

    @Test func releasingAnUnreadBodyGivesTheTransferUp() async throws {
        let (asked, gone) = (Gate(), Gate())
        let server = try server(sending: endless, asked, gone)
        var response: HTTPResponse? = try await transport.deliver(HTTPRequest(server.url))
        #expect(response?.status == 200)
        response = nil
        await gone.wait()
    }

    @Test func closingABodyGivesTheTransferUp() async throws {
        let (asked, gone) = (Gate(), Gate())
        let server = try server(sending: endless, asked, gone)
        let response = try await transport.deliver(HTTPRequest(server.url))
        response.body.close()
        response.body.close()
        await gone.wait()
        #expect(await httpError { try await response.text() }?.code == .connectionLost)
    }

    @Test func closingAReadBodyIsHarmless() async throws {
        let server = try RawServer.echoing()
        let response = try await transport.deliver(HTTPRequest(server.url))
        _ = try await response.text()
        response.body.close()
        #expect(await httpError { try await response.text() }?.code == .bodyNotReplayable)
    }

    @Test func cancellingAnUploadThatWaitsEndsIt() async throws {
        let server = try RawServer { $0.waitForClose() }
        let asked = Gate()
        let body = HTTPBody.stream {
            AsyncStream<[UInt8]> {
                asked.open()
                try? await untilCancelled()
                return nil
            }
        }
        let task = Task { try await transport.deliver(HTTPRequest(.put, server.url, body: body)) }
        await asked.wait()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func cancellingAnUploadThatIsNotReadEndsBothSides() async throws {
        let (asked, goOn, gone) = (Gate(), DispatchSemaphore(value: 0), Gate())
        let server = try RawServer { connection in
            connection.receive()
            asked.open()
            goOn.wait()
            connection.waitForClose()
            gone.open()
        }
        let body = HTTPBody.bytes([UInt8](repeating: 1, count: 32 << 20))
        let task = Task { try await transport.deliver(HTTPRequest(.put, server.url, body: body)) }
        await asked.wait()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        goOn.signal()
        await gone.wait()
    }

    @Test func closingTheTransportEndsWhatIsUnderWay() async throws {
        let (asked, gone) = (Gate(), Gate())
        let server = try server(sending: endless, asked, gone)
        let transport = urlSessionTransport()
        let response = try await transport.deliver(HTTPRequest(server.url))
        transport.close()
        #expect(await httpError { try await response.text() }?.code == .connectionLost)
        await gone.wait()
        for request in [HTTPRequest(server.url), HTTPRequest(server.url).buffered()] {
            let error = await httpError { try await transport.deliver(request) }
            #expect(error?.code == .connection)
            #expect(error?.phase == .notSent)
        }
        transport.close()
    }

    @Test func closingTheTransportIsNoFailureOfTheServer() async throws {
        let (asked, gone) = (Gate(), Gate())
        let server = try server(sending: "", asked, gone)
        let transport = urlSessionTransport()
        let configuration = HTTPClient.Configuration(
            maxRetries: 1, validators: [DefaultValidator(retriableErrors: [.connectionLost: .immediate])])
        let client = testClient(configuration: configuration, transport: transport)
        async let failure = httpError { try await client.send(HTTPRequest(server.url)) }
        await asked.wait()
        transport.close()
        let error = await failure
        // That of the only attempt: breakers don't count it, and another one would find the transport closed.
        #expect(error?.code == .connectionLost)
        #expect(error?.isRefusedHere == true && error?.isForGood == true)
        await gone.wait()
    }

    @Test func aBodyOutlivesItsTransport() async throws {
        let goOn = DispatchSemaphore(value: 0)
        let server = try RawServer { connection in
            _ = connection.readRequest()
            connection.write(
                "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: 10\r\n\r\nhello")
            goOn.wait()
            connection.write("hello")
        }
        var transport: URLSessionTransport? = urlSessionTransport()
        let response = try #require(try await transport?.send(HTTPRequest(server.url)))
        transport = nil
        goOn.signal()
        #expect(try await response.text() == "hellohello")
    }

    @Test func aRetiredSessionReleasesItsDelegate() async throws {
        let delegate = try await delegateOfRetiredSession()
        // The session lets go on a queue of its own; the time limit ends a wait that is in vain.
        await eventually { delegate() == nil }
    }

    private func delegateOfRetiredSession() async throws -> () -> SessionDelegate? {
        let server = try RawServer.echoing()
        let session = Session(.ephemeral)
        let request = HTTPRequest(server.url).buffered()
        let exchange = Exchange(
            request, request.delivery, try OutgoingRequest(request), limits: BodyLimits(memory: 1, spool: 1 << 20))
        _ = try await exchange.response { session.start($0) }
        session.retire()
        return { [weak delegate = session.delegate] in delegate }
    }
}
