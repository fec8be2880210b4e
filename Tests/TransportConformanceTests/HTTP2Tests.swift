#if os(Linux)
    import Foundation
    import MidstreamCore
    import MidstreamTransport
    import TestSupport
    import Testing

    /// HTTP/2, against nginx. See ``ConfigurationTests`` for what else a ``TransportConfiguration`` says.
    @Suite(.leavesNothing, .enabled(if: Nginx.isRunning), .timeLimit(.minutes(10))) struct HTTP2Tests {
        private let https = Nginx.https ?? ""

        @Test(arguments: ConfiguredTransport.allCases) func http2IsSpokenOverTLS(transport: ConfiguredTransport) async throws {
            let response = try await transport.client().send(HTTPRequest(https + "/10m"))
            #expect(response.version == .http2)
            #expect(response.body.bytes == (try Nginx.file("/10m")))
            let metrics = try #require(response.metrics)
            #expect(metrics.tlsVersion == "TLSv1.3")
            #expect(metrics.tlsHandshake != nil)
        }

        @Test(arguments: ConfiguredTransport.allCases) func anotherVersionCanBeAskedFor(transport: ConfiguredTransport)
            async throws
        {
            let response = try await transport.client { $0.httpVersions = .http1Only }.send(HTTPRequest(https + "/hello"))
            #expect(response.version == .http1_1)
        }

        @Test(arguments: ConfiguredTransport.allCases) func manyRequestsShareOneConnection(transport: ConfiguredTransport)
            async throws
        {
            let client = transport.client()
            let mark = UUID().uuidString
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<50 {
                    group.addTask {
                        let delivery: Delivery = number.isMultiple(of: 2) ? .buffered : .streamed
                        let request = HTTPRequest("\(raw: https)/echo-headers?\(mark)", headers: ["X-Test": "\(number)"])
                        let received = try await delivery.send(request, by: client)
                        #expect(received.response.version == .http2)
                        #expect(received.text.hasPrefix("\(number)|"))
                    }
                }
                try await group.waitForAll()
            }
            let lines = try await Nginx.logLines(with: mark, count: 50)
            #expect(lines.count == 50)
            #expect(Set(lines.map { $0[0] }).count == 1)
            #expect(lines.allSatisfy { $0[2] == "HTTP/2.0" })
        }

        @Test(arguments: ConfiguredTransport.allCases, Delivery.allCases) func anAnswerDuringAnUploadEndsIt(
            transport: ConfiguredTransport, delivery: Delivery
        ) async throws {
            let client = transport.client()
            let bytes = noise(10 << 20)
            let bodies: [HTTPBody] = [
                .bytes(bytes), .stream(length: Int64(bytes.count)) { bytes.pieces(of: 50_000).asynchronous() },
                .stream { bytes.pieces(of: 50_000).asynchronous() },
            ]
            for body in bodies {
                let received = try await delivery.send(HTTPRequest(.post, https + "/small-limit", body: body), by: client)
                #expect(received.response.version == .http2)
                #expect(received.status == 413)
                try await Nginx.expectHello(https + "/hello", by: client)
            }
        }

        /// libcurl gives those that are streamed, or large, connections of their own.
        @Test(.enabled(if: ConfiguredTransport.allCases.contains(.wire))) func uploadsShareTheWiresConnection() async throws {
            let client = ConfiguredTransport.wire.client()
            let mark = UUID().uuidString
            let bytes = noise(300_000)
            let bodies: [HTTPBody] = [
                .bytes(bytes), .stream(length: Int64(bytes.count)) { bytes.pieces(of: 30_000).asynchronous() },
                .stream { bytes.pieces(of: 30_000).asynchronous() },
            ]
            try await withThrowingTaskGroup(of: Void.self) { group in
                for body in bodies + bodies + bodies + bodies {
                    group.addTask {
                        let response = try await client.send(HTTPRequest(.post, "\(raw: https)/length?\(mark)", body: body))
                        #expect(response.body.bytes == [UInt8]("\(bytes.count)\n"))
                    }
                }
                try await group.waitForAll()
            }
            let lines = try await Nginx.logLines(with: mark, count: 12)
            #expect(Set(lines.map { $0[0] }).count == 1)
        }

        @Test(arguments: ConfiguredTransport.allCases) func uploadsAndDownloadsGoSideBySide(transport: ConfiguredTransport)
            async throws
        {
            let client = transport.client()
            let bytes = noise(3 << 20)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<6 {
                    group.addTask {
                        let url = "\(https)/put/\(UUID().uuidString)/file"
                        let body = HTTPBody.stream { bytes.pieces(of: 30_000).asynchronous() }
                        let stored = try await client.send(HTTPRequest(.put, url, body: body))
                        #expect(stored.status == 201)
                        let found = try await Delivery.streamed.send(HTTPRequest(url), by: client)
                        #expect(found.bytes == bytes)
                    }
                }
                try await group.waitForAll()
            }
        }

        /// The end of an upload isn't to touch what has arrived of other responses; libcurl 7.88 overwrites it where they share a
        /// connection.
        @Test(arguments: ConfiguredTransport.allCases, [false, true]) func uploadsThatEndLeaveWaitingStreamsAlone(
            transport: ConfiguredTransport, areRefused: Bool
        ) async throws {
            let client = transport.client()
            var waiting: [HTTPResponse] = []
            for _ in 0..<4 { waiting.append(try await client.stream(HTTPRequest(https + "/10m"))) }
            let bytes = noise(300_000)
            let body = areRefused ? HTTPBody.bytes(bytes) : .stream { bytes.pieces(of: 30_000).asynchronous() }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<40 {
                    group.addTask {
                        let url = https + (areRefused ? "/small-limit" : "/length")
                        let status = try await client.send(HTTPRequest(.post, url, body: body)).status
                        #expect(status == (areRefused ? 413 : .ok))
                    }
                }
                try await group.waitForAll()
            }
            let expected = try Nginx.file("/10m")
            for response in waiting { #expect(try await response.body.collect() == expected) }
        }

        @Test(arguments: ConfiguredTransport.allCases) func aStreamThatWaitsForItsReaderLetsOthersPass(
            transport: ConfiguredTransport
        ) async throws {
            let client = transport.client()
            let waiting = try await client.stream(HTTPRequest(https + "/large"))
            for _ in 0..<5 { try await Nginx.expectHello(https + "/hello", by: client) }
            waiting.body.close()
            try await Nginx.expectHello(https + "/hello", by: client)
        }
    }
#endif
