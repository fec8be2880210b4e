#if os(Linux)
    import Interception
    import MidstreamCore
    import MidstreamLoop
    import TestSupport
    import Testing

    /// What comes before a response's head and after a body (RFC 9113 §8.1).
    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct HTTP2FieldsTests {
        private static let last = HTTP2Frame.endHeaders | HTTP2Frame.endStream
        private let transport = HTTP2Wire(tls: nil).transport()

        @Test(arguments: deliveries) func `A response's trailers are told`(_ delivery: BodyDelivery) async throws {
            let server = try HTTP2Server { peer in
                guard peer.begin(), let stream = peer.nextRequest() else { return }
                let trailers = [("x-sum", "1"), ("x-empty", ""), ("x-sum", "2")].map { HPACKField($0, $1) }
                peer.write(
                    HTTP2Frame.headers([.ok], stream: stream) + HTTP2Frame.data("ok", stream: stream)
                        + HTTP2Frame.headers(trailers, Self.last, stream: stream))
                peer.answerAll()
            }
            let response = try await transport.deliver(request(server.url, delivery))
            #expect(try await response.body.collect() == Array("ok".utf8))
            #expect(response.trailers?.values("X-Sum") == ["1", "2"])
            #expect(response.trailers?.values("X-Empty") == [""])
            #expect(response.headers["X-Sum"] == nil)
            let next = try await transport.deliver(request(server.url, delivery))
            #expect(try await next.body.collect() == Array(HTTP2Server.later.utf8))
            #expect(next.trailers == nil)
        }

        @Test(arguments: deliveries) func `Interim responses are told, 100 excepted`(_ delivery: BodyDelivery) async throws {
            let server = try HTTP2Server { peer in
                guard peer.begin(), let stream = peer.nextRequest() else { return }
                let heads = [
                    [HPACKField(":status", "100")],
                    [HPACKField(":status", "103"), HPACKField("link", "</a>"), HPACKField("link", "</b>")],
                    [HPACKField(":status", "199"), HPACKField("x-own", "1")],
                ]
                peer.write(heads.flatMap { HTTP2Frame.headers($0, stream: stream) } + HTTP2Frame.response(stream: stream))
                peer.connection.waitForEnd()
            }
            let told = Locked<[InterimResponse]>([])
            var request = request(server.url, delivery)
            request.onInterim = { interim in told.withLock { $0.append(interim) } }
            let response = try await transport.deliver(request)
            #expect(try await response.body.collect() == Array("ok".utf8))
            let expected = [
                InterimResponse(status: 103, headers: ["link": "</a>", "Link": "</b>"]),
                InterimResponse(status: 199, headers: ["x-own": "1"]),
            ]
            #expect(told.withLock { $0 } == expected)
            #expect(response.metrics?.interim == expected)
            #expect(response.headers["Link"] == nil)
        }

        @Test func `White space around a value is taken off`() async throws {
            let fields = [HPACKField("x-a", "v "), HPACKField("x-b", "\tv")]
            let server = try RawServer.http2 { peer in
                guard peer.begin(), let stream = peer.nextRequest() else { return }
                peer.write(HTTP2Frame.response("ok", fields, stream: stream))
                peer.connection.waitForEnd()
            }
            let response = try await transport.deliver(request(server.url, .buffered(upTo: 10)))
            #expect(response.headers["x-a"] == "v" && response.headers["x-b"] == "v")
        }

        /// RFC 9113 §8.2.1 forbids less than RFC 9110 §5 does; firewalls set cookies with control characters.
        @Test func `Fields that are odd and not malformed are taken`() async throws {
            let fields = [HPACKField("set-cookie", "a=dmo\u{1}OZ"), HPACKField("x(y)", "v"), HPACKField("x-a", "b\u{1B}c")]
            let server = try RawServer.http2 { peer in
                guard peer.begin(), let stream = peer.nextRequest() else { return }
                peer.write(HTTP2Frame.response("ok", fields, stream: stream))
                peer.connection.waitForEnd()
            }
            let response = try await transport.deliver(request(server.url, .buffered(upTo: 10)))
            #expect(response.body.bytes == Array("ok".utf8))
            #expect(response.headers["set-cookie"] == "a=dmo\u{1}OZ" && response.headers["x(y)"] == "v")
            #expect("\(response.headers)".contains("x-a: b\\u{1B}c"))
        }

        /// Name and value go as they are, since Huffman's code would make them longer (RFC 7541 §5.2).
        @Test func `A request's trailers follow its body`() async throws {
            let (body, trailers) = (Locked<[UInt8]>([]), Locked<[UInt8]>([]))
            let server = try RawServer.http2 { peer in
                guard peer.begin() else { return }
                while let (kind, flags, stream, payload) = peer.readFrame() {
                    let isLast = flags & HTTP2Frame.endStream != 0
                    if kind == .data { body.withLock { $0 += payload } }
                    if kind == .headers, isLast { trailers.withLock { $0 = payload } }
                    guard isLast, kind == .data || kind == .headers else { continue }
                    peer.write(HTTP2Frame.response(stream: stream))
                    return peer.connection.waitForEnd()
                }
            }
            var sent = request(server.url, .buffered(upTo: 10))
            sent.method = .post
            sent.body = .stream { [Array("a".utf8), Array("b".utf8)].stream }
            sent.trailers = { ["X~": "{}"] }
            #expect(try await transport.deliver(sent).body.bytes == Array("ok".utf8))
            #expect(body.withLock { $0 } == Array("ab".utf8))
            let field = HPACKField.string(Array("x~".utf8)) + HPACKField.string(Array("{}".utf8))
            #expect(trailers.withLock { $0.suffix(field.count) } == field[...])
        }
    }
#endif
