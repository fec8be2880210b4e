#if os(Linux)
    import MidstreamCore
    import MidstreamLoop
    import TestSupport
    import Testing

    /// `HostileHTTP2Tests` have what is far beyond the limits.
    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct FieldLimitTests {
        private typealias Frame = HTTP2Frame
        private static let last = Frame.endHeaders | Frame.endStream

        /// What a request ends with that is answered by frames.
        private func outcome(_ answer: @escaping @Sendable (UInt32) -> [UInt8]) async throws -> Result<HTTPResponse, any Error> {
            let transport = HTTP2Wire(tls: nil).transport()
            let server = try HTTP2Server { peer in
                guard peer.begin(), let stream = peer.nextRequest() else { return }
                peer.write(answer(stream))
                peer.connection.waitForEnd()
            }
            let url = server.url
            return await Task { try await transport.deliver(request(url, .buffered(upTo: 10))) }.result
        }

        @Test(arguments: [(999, true), (1_000, true), (1_001, false)])
        func `A head, and trailers, may have 1,000 fields`(_ count: Int, _ isTaken: Bool) async throws {
            let fields = Array(repeating: HPACKField("x", "y"), count: count)
            let head = try await outcome { Frame.headers([.ok] + fields, Self.last, stream: $0) }
            let trailers = try await outcome {
                Frame.headers([.ok], stream: $0) + Frame.headers(fields, Self.last, stream: $0)
            }
            if isTaken {
                #expect(try head.get().headers.values("x").count == count)
                #expect(try trailers.get().trailers?.values("x").count == count)
            } else {
                #expect(head.httpError?.code == .protocolViolation && trailers.httpError?.code == .protocolViolation)
            }
        }

        /// RFC 9113 §8.1.1.
        @Test(arguments: ["1", "5"]) func `A body that isn't as long as its head says isn't reset by the server`(_ length: String)
            async throws
        {
            let result = try await outcome { Frame.response("ok", [HPACKField("content-length", length)], stream: $0) }
            let message = length == "1" ? "The response broke a rule of HTTP/2: " : "The body ended after 2 of 5 bytes."
            #expect(result.httpError?.message.hasPrefix(message) == true, "\(result)")
        }

        /// As proxies send it that pass on what another said over HTTP/1.1 (RFC 9113 §8.2.2).
        @Test func `A field that no response may have is named, and its value isn't`() async throws {
            for fields in [[HPACKField("upgrade", "h2c, secret")], [HPACKField("x", "y"), HPACKField("connection", "secret")]] {
                let result = try await outcome { Frame.response("ok", fields, stream: $0) }
                let name = String(decoding: fields.last?.name ?? [], as: UTF8.self)
                #expect(result.httpError?.message == "The response broke a rule of HTTP/2: PROTOCOL_ERROR (the field \(name)).")
            }
        }

        @Test func `A field whose name a terminal would obey isn't named`() async throws {
            let result = try await outcome { Frame.response("ok", [HPACKField("up\u{1B}grade", "x")], stream: $0) }
            #expect(result.httpError?.message == "The response broke a rule of HTTP/2: PROTOCOL_ERROR.")
        }

        /// Of which most are indices of one that has come before: more frames for one head are refused.
        @Test(arguments: [(-1, true), (0, true), (1, false)])
        func `A head may have 256 KiB`(_ beyond: Int, _ isTaken: Bool) async throws {
            let value = [UInt8](repeating: 98, count: 4_000)
            // With incremental indexing (RFC 7541 §6.2.1).
            let indexed = [0x40] + HPACKField.string(Array("x-a".utf8)) + HPACKField.string(value)
            // Names, values, and two bytes for each; before them `HTTP/2` with what belongs to that.
            let before = 8 + 65 * (3 + value.count + 2) + 3
            let rest = HPACKField("x-b", String(repeating: "c", count: HeadReader.sizeLimit - before + beyond))
            let block = [HPACKField.ok].encoded + indexed + [UInt8](repeating: 0xbe, count: 64) + rest.encoded
            let result = try await outcome { Frame.make(.headers, Self.last, stream: $0, block) }
            if isTaken {
                #expect(try result.get().headers.values("x-a").count == 65)
            } else {
                #expect(result.httpError?.code == .protocolViolation, "\(result)")
            }
        }
    }
#endif
