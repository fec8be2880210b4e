#if os(Linux)
    import MidstreamCore
    import MidstreamTransport
    import MidstreamWire
    import TestSupport
    import Testing

    @Suite("The wish for HTTP/3", .leavesNothing, .timeLimit(.minutes(10))) struct HTTP3SettingTests {
        @Test func `Is passed over with a note in the trace`() async throws {
            let server = try RawServer.answering { _ in "HTTP/1.1 204 No Content\r\n\r\n" }
            let client = testClient(transport: wireTransport(configuration: TransportConfiguration(httpVersions: .http3)))
            let error = await httpError { try await client.send(HTTPRequest("https://127.0.0.1:1/")) }
            let notes = error?.trace?.description ?? ""
            #expect(notes.contains("HTTP/3 isn't spoken: the wire hasn't it; CurlTransport has"))
            let response = try await client.send(HTTPRequest(server.url))
            #expect(!response.trace.description.contains("HTTP/3"))
        }

        @Test func `Alone is refused, and says by whom it is granted`() async throws {
            let transport = wireTransport(configuration: TransportConfiguration(httpVersions: .http3Only))
            let error = await httpError { try await transport.send(HTTPRequest("https://127.0.0.1:1/")) }
            #expect(error?.code == .unsupported && error?.phase == .notSent)
            #expect(error?.message == "httpVersions is .http3Only, and the wire speaks no HTTP/3; CurlTransport does.")
        }
    }
#endif
