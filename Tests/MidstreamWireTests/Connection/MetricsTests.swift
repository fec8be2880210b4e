#if os(Linux)
    import Interception
    import MidstreamCore
    import MidstreamLoop
    import MidstreamTransport
    import MidstreamWire
    import TestSupport
    import Testing

    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct MetricsTests {
        /// In the order in which they are over.
        private func steps(_ metrics: TransportMetrics) -> [Duration] {
            [metrics.nameLookup, metrics.connect, metrics.sendStart, metrics.firstByte, metrics.total].compactMap { $0 }
        }

        @Test(arguments: deliveries) func `The steps of an exchange are told as they follow each other`(_ delivery: BodyDelivery)
            async throws
        {
            let server = try RawServer.answering { _ in "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello" }
            let transport = wireTransport(configuration: TransportConfiguration(resolver: { _ in ["127.0.0.1"] }))
            for isReused in [false, true] {
                let response = try await transport.deliver(request("http://h.invalid:\(server.port)/", delivery))
                #expect(try await response.body.collect() == Array("hello".utf8))
                let metrics = try #require(response.metrics)
                let steps = steps(metrics)
                #expect(steps.count == 5 && steps == steps.sorted(), "\(metrics)")
                #expect((metrics.nameLookup == .zero) == isReused && (metrics.connect == .zero) == isReused)
                #expect(metrics.isReusedConnection == isReused)
            }
        }

        @Test(arguments: deliveries) func `They are over HTTP/2 as well`(_ delivery: BodyDelivery) async throws {
            let server = try HTTP2Server()
            let transport = HTTP2Wire(tls: nil).transport()
            for isReused in [false, true] {
                let response = try await transport.deliver(request(server.url, delivery))
                #expect(try await response.body.collect() == Array(HTTP2Server.later.utf8))
                let metrics = try #require(response.metrics)
                let steps = steps(metrics)
                #expect(steps.count == 5 && steps == steps.sorted(), "\(metrics)")
                #expect(metrics.isReusedConnection == isReused)
                #expect(metrics.connection == 1)
            }
        }

        @Test(arguments: deliveries)
        func `What a deadline ends is measured as far as it came`(_ delivery: BodyDelivery) async throws {
            let server = try HTTP2Server { peer in
                guard peer.begin(), let first = peer.nextRequest() else { return }
                peer.write(HTTP2Frame.response("first", stream: first))
                while peer.nextRequest() != nil {}
            }
            let client = testClient(transport: HTTP2Wire(tls: nil).transport())
            let url = server.url
            _ = try await client.send(HTTPRequest(url))
            let error = await #expect(throws: HTTPError.self) {
                var hasty = HTTPRequest(url)
                hasty.deadline = .seconds(2)
                if delivery == .streamed { _ = try await client.stream(hasty) } else { _ = try await client.send(hasty) }
            }
            #expect(error?.code == .deadlineExceeded)
            #expect(error?.metrics?.isReusedConnection == true && error?.metrics?.firstByte == nil)
        }

        @Test(arguments: deliveries)
        func `What a limit ends in TLS's handshake is measured as far as it came`(_ delivery: BodyDelivery) async throws {
            let server = try RawServer { $0.waitForEnd() }
            let transport = wireTransport()
            let error = await #expect(throws: HTTPError.self) {
                _ = try await transport.send(
                    request("https://127.0.0.1:\(server.port)/", delivery),
                    ExchangeOptions(delivery: delivery, timeLimit: .seconds(2)))
            }
            #expect(error?.code == .timeout)
            #expect(error?.metrics?.nameLookup != nil && error?.metrics?.connect != nil)
            #expect(error?.metrics?.tlsHandshake == nil && error?.metrics?.sendStart == nil)
        }

        @Test func `A connection that can't be made isn't told as the one that was lost before`() async throws {
            let server = try RawServer { connection in
                guard connection.readHead() != nil else { return }
                connection.write(RawServer.okResponse)
                _ = connection.readHead()
            }
            let lookups = Locked(0)
            let transport = wireTransport(
                configuration: TransportConfiguration(resolver: { _ in lookups.increment() == 1 ? ["127.0.0.1"] : [] }))
            let url = "http://h.invalid:\(server.port)/"
            let first = try await transport.deliver(request(url, .buffered(upTo: 10)))
            #expect(first.metrics?.remotePort == server.port)
            let error = await httpError { try await transport.deliver(request(url, .buffered(upTo: 10))) }
            #expect(error?.code == .nameResolution && error?.metrics?.resends == 1)
            #expect(error?.metrics?.isReusedConnection == nil && error?.metrics?.connection == nil)
            #expect(error?.metrics?.remotePort == nil && error?.metrics?.sendStart == nil)
        }

        @Test func `Connections are told apart by their numbers`() async throws {
            let servers = try (0..<2).map { _ in try RawServer.ok() }
            let transport = wireTransport()
            var numbers: [Int?] = []
            for server in servers + servers {
                numbers.append(
                    try await transport.deliver(request(server.url, .buffered(upTo: 10))).metrics?.connection)
            }
            #expect(numbers == [1, 2, 1, 2])
        }
    }
#endif
