#if os(Linux)
    import Foundation
    import Interception
    import MidstreamCore
    import TestSupport
    import Testing

    /// Servers that break the rules of HTTP/2 (RFC 9113): each call ends as it should, and nothing else suffers.
    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct HostileHTTP2Tests {
        @Test(arguments: Misbehaviour.beginnings) func `The beginning of a connection`(_ case: Misbehaviour) async throws {
            try await expectOutcome(of: `case`)
        }

        @Test(arguments: Misbehaviour.frames) func `Frames`(_ case: Misbehaviour) async throws {
            try await expectOutcome(of: `case`)
        }

        @Test(arguments: Misbehaviour.continuations) func `Continuations`(_ case: Misbehaviour) async throws {
            try await expectOutcome(of: `case`)
        }

        @Test(arguments: Misbehaviour.ends) func `The ends of streams and connections`(_ case: Misbehaviour) async throws {
            try await expectOutcome(of: `case`)
        }

        @Test(arguments: Misbehaviour.heads) func `Fields`(_ case: Misbehaviour) async throws {
            try await expectOutcome(of: `case`)
        }

        @Test(arguments: Misbehaviour.messages) func `Messages`(_ case: Misbehaviour) async throws {
            try await expectOutcome(of: `case`)
        }

        @Test(arguments: Misbehaviour.compression) func `Compression`(_ case: Misbehaviour) async throws {
            try await expectOutcome(of: `case`)
        }

        private func expectOutcome(of misbehaviour: Misbehaviour) async throws {
            for wire in try HTTP2Wire.all() {
                for delivery in deliveries { try await expectOutcome(of: misbehaviour, over: wire, delivery) }
            }
        }

        private func expectOutcome(of misbehaviour: Misbehaviour, over wire: HTTP2Wire, _ delivery: BodyDelivery) async throws {
            let expected = misbehaviour.outcome.results + (misbehaviour.exception?.outcomes ?? [])
            // A net, so that a hang is told by its name; only where libcurl is known to wait it is the way out, for others as well.
            let waits = expected.contains(.failure(.timeout))
            let transport = wire.transport(patience: waits ? .milliseconds(200) : .seconds(120))
            let bystander = waits ? nil : try await Bystander(transport)
            let server = try HTTP2Server(tls: wire.tls) { misbehaviour.script($0) }
            let result: HTTP2Limitation.Result
            do {
                let response = try await transport.deliver(request(server.url, delivery))
                let body = try await response.body.collect()
                #expect(response.headers["x-b"] == nil, "A field came from within another.")
                result = .success(String(decoding: body, as: UTF8.self))
            } catch let error as HTTPError {
                // The time for a head may be over on a busy machine before the request has left.
                #expect(error.phase != .notSent || waits && error.code == .timeout, "\(error)")
                result = .failure(error.code)
            }
            #expect(expected.contains(result), "\(result) over \(wire), \(delivery)")
            try await bystander?.expectToFinish()
            #expect(try await answer(of: server.url, over: transport, delivery) == Array(HTTP2Server.later.utf8))
        }

        /// RFC 9113 §10.5. What libcurl doesn't end is ended by the limits in time, as with any server that says much and nothing, and
        /// by ``FloodWatch`` where it doesn't come back to look at them.
        @Test(arguments: [
            Flood("PING", HTTP2Frame.make(.ping, 0, [1, 2, 3, 4, 5, 6, 7, 8])),
            Flood("SETTINGS", HTTP2Frame.settings((3, 100))),
            Flood("SETTINGS without values", HTTP2Frame.settings()),
            Flood("acknowledgements", HTTP2Frame.make(.settings, HTTP2Frame.acknowledgement)),
            // The first one ends the stream.
            Flood("RST_STREAM", HTTP2Frame.reset(8, stream: 1), .connectionLost),
            Flood("PRIORITY", HTTP2Frame.make(.priority, stream: 1, [0, 0, 0, 0, 1])),
            Flood("WINDOW_UPDATE", HTTP2Frame.windowUpdate(1, stream: 0)),
            Flood("unknown frames", HTTP2Frame.make(.unknown, stream: 1, [UInt8](repeating: 0, count: 100))),
            Flood("interim responses", HTTP2Frame.headers([HPACKField(":status", "103")], stream: 1)),
            Flood("DATA without bytes", HTTP2Frame.data("", stream: 1), after: HTTP2Frame.headers([.ok], stream: 1)),
            Flood(
                "DATA of padding",
                HTTP2Frame.make(.data, HTTP2Frame.padded, stream: 1, [255] + [UInt8](repeating: 0, count: 255)),
                after: HTTP2Frame.headers([.ok], stream: 1)),
            Flood(
                "CONTINUATION", HTTP2Frame.make(.continuation, stream: 1, HPACKField("x-a", "b").encoded),
                after: HTTP2Frame.headers([.ok], 0, stream: 1)),
            Flood(
                "CONTINUATION without bytes", HTTP2Frame.make(.continuation, stream: 1),
                after: HTTP2Frame.headers([.ok], 0, stream: 1)),
        ]) func `Floods end, and hold up nobody`(_ flood: Flood) async throws {
            for wire in try HTTP2Wire.all() {
                let transport = wire.transport(patience: Flood.patience)
                let other = try HTTP2Server()
                let server = try HTTP2Server(tls: wire.tls) { peer in
                    guard peer.begin(), peer.nextRequest() != nil else { return }
                    peer.write(flood.first)
                    peer.flood(flood.frames)
                    peer.answerAll()
                }
                let url = server.url
                let flooded = Task { try await transport.deliver(request(url, .buffered(upTo: 1 << 20))) }
                for _ in 0..<20 { #expect(try await answer(of: other.url, over: transport) == Array(HTTP2Server.later.utf8)) }
                let error = await #expect(throws: HTTPError.self) { _ = try await flooded.value }
                #expect(error.map { flood.outcomes.contains($0.code) } == true, "\(error as Any)")
                #expect(try await answer(of: url, over: transport) == Array(HTTP2Server.later.utf8))
            }
        }

        /// On a busy machine the transport's little patience ends before an honest server is heard, too. And libcurl may know of a
        /// hostile one only when it uses its connection again.
        private func answer(
            of url: String, over transport: any LoopTransport, _ delivery: BodyDelivery = .buffered(upTo: 10)
        ) async throws -> [UInt8]? {
            for _ in 0..<100 {
                do {
                    return try await transport.deliver(request(url, delivery)).body.collect()
                } catch let error as HTTPError where [.timeout, .protocolViolation, .connectionLost].contains(error.code) {
                    continue
                }
            }
            return nil
        }

        @Test(arguments: deliveries) func `A response without an end has its time`(_ delivery: BodyDelivery) async throws {
            for wire in try HTTP2Wire.all() {
                let transport = wire.transport(standstill: .milliseconds(50))
                let server = try HTTP2Server(tls: wire.tls) { peer in
                    guard peer.begin(), let stream = peer.nextRequest() else { return }
                    peer.write(HTTP2Frame.headers([.ok], stream: stream) + HTTP2Frame.data("ok", stream: stream))
                    peer.connection.waitForEnd()
                }
                let error = await httpError { try await transport.deliver(request(server.url, delivery)).body.collect() }
                #expect(error?.code == .timeout)
                #expect(error?.phase != .notSent)
            }
        }
    }
#endif
