#if os(Linux)
    import MidstreamCore
    import TestSupport
    import Testing

    @testable import MidstreamLoop
    @testable import MidstreamWire

    /// RFC 9112 §9.3.
    @Suite(.leavesNothing) struct PersistenceTests {
        private func persistence(
            _ response: HTTPHeaders, request: HTTPHeaders = [:], status: Int = 200, version: HTTPVersion = .http1_1
        ) throws -> Persistence {
            let lines = response.map { "\($0.name): \($0.value)\r\n" }.joined()
            let fields = try Array(lines.utf8).withUnsafeBytes { try ReceivedFields($0, limit: 10) }
            return Persistence(fields, HTTPHeaders(lines: fields.bytes), request: request, status: status, version: version)
        }

        @Test func `HTTP/1.1 keeps a connection unless one side says otherwise`() throws {
            #expect(try persistence([:]).isAllowed)
            #expect(try persistence(["Connection": "keep-alive"]).isAllowed)
            #expect(try !persistence(["Connection": "close"]).isAllowed)
            #expect(try !persistence(["Connection": "x-hop, Close"]).isAllowed)
            #expect(try !persistence([:], request: ["Connection": "close"]).isAllowed)
        }

        @Test func `HTTP/1.0 keeps one only if the server says so`() throws {
            #expect(try !persistence([:], version: .http1_0).isAllowed)
            #expect(try persistence(["Connection": "Keep-Alive"], version: .http1_0).isAllowed)
            #expect(try !persistence(["Connection": "keep-alive, close"], version: .http1_0).isAllowed)
        }

        @Test func `What is framed twice isn't trusted`() throws {
            #expect(try !persistence(["Transfer-Encoding": "chunked", "Content-Length": "3"]).isAllowed)
            #expect(
                try !persistence(["Transfer-Encoding": "chunked", "Connection": "keep-alive"], version: .http1_0).isAllowed)
            #expect(try persistence(["Transfer-Encoding": "chunked"]).isAllowed)
        }

        @Test func `What is framed in an odd way isn't trusted`() throws {
            #expect(try !persistence(["Transfer-Encoding": "chunked", "Transfer-Encoding": "chunked"]).isAllowed)
            #expect(try !persistence(["Transfer-Encoding": "chunked, chunked"]).isAllowed)
            #expect(try !persistence(["Transfer-Encoding": ""]).isAllowed)
        }

        /// RFC 9112 §6.1 forbids the field there, and allows it in a 304.
        @Test func `A 204 that speaks of chunks may have one`() throws {
            #expect(try !persistence(["Transfer-Encoding": "chunked"], status: 204).isAllowed)
            #expect(try persistence(["Transfer-Encoding": "chunked"], status: 304).isAllowed)
            #expect(try persistence(["Content-Length": "0"], status: 204).isAllowed)
        }

        @Test(
            arguments: [
                ("timeout=5, max=100", true, 4), ("max=100,timeout = 60", true, 59), ("timeout=\"5\"", true, 4),
                ("timeout=99999999", true, 86_399), ("timeout=1", false, 0), ("timeout=0", false, 0), ("max=3", true, nil),
                ("timeout=soon", true, nil), ("", true, nil),
            ] as [(String, Bool, UInt64?)])
        func `A second is left to what is on its way`(hint: String, isAllowed: Bool, seconds: UInt64?) throws {
            let persistence = try persistence(["Keep-Alive": hint])
            #expect(persistence.isAllowed == isAllowed)
            #expect(persistence.seconds == seconds)
        }
    }
#endif
