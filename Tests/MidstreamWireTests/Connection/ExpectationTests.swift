#if os(Linux)
    import Foundation
    import Interception
    import MidstreamCore
    import MidstreamLoop
    import MidstreamTransport
    import TestSupport
    import Testing

    @testable import MidstreamWire

    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct ExpectationTests {
        /// The connection is found broken while what has come over it is being read.
        @Test func `An answer that comes with the leave to send counts, though nothing can be sent any more`() async throws {
            let (hasCome, isReset) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let server = try RawServer { connection in
                guard connection.readHead() != nil else { return }
                connection.write(
                    "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                hasCome.wait()
                connection.reset()
                isReset.signal()
            }
            var request = HTTPRequest(.put, server.url, headers: ["Expect": "100-continue"], body: .bytes([1, 2, 3]))
            request.delivery = .buffered(upTo: 10)
            request.onInterim = { _ in
                hasCome.signal()
                isReset.wait()
            }
            let response = try await wireTransport().deliver(request)
            #expect(response.status == 200)
            #expect(response.body.bytes == Array("ok".utf8))
        }

        @Test(arguments: [
            ("HTTP/1.1 103 Early Hints\r\n\r\n", "The connection was closed before an answer came."),
            ("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200", "The connection was closed within the head."),
        ])
        func `An interim response is no part of the answer's head`(_ sent: String, _ message: String) async throws {
            let server = try RawServer { connection in
                guard connection.readHead() != nil else { return }
                connection.write(sent)
            }
            let error = await httpError { try await wireTransport().deliver(request(server.url, .buffered(upTo: 10))) }
            #expect(error?.code == .connectionLost && error?.message == message)
        }

        private static let hour: UInt64 = 3_600_000_000_000

        @Test(arguments: [TransportConfiguration.HTTPVersions.http1Only, .http2PriorKnowledge])
        func `Waiting for leave is no standing still`(_ version: TransportConfiguration.HTTPVersions) async throws {
            let server = try HTTP2Server()
            let configuration = TransportConfiguration(httpVersions: version, idleTimeout: .milliseconds(50))
            let transport = wireTransport(WireSettings(configuration, patience: 200_000_000))
            let headers: HTTPHeaders = ["Expect": "100-continue"]
            var upload = HTTPRequest(.put, server.url, headers: headers, body: .bytes([1, 2, 3]))
            upload.delivery = .buffered(upTo: 10)
            let response = try await transport.deliver(upload)
            #expect(response.body.bytes == Array(HTTP2Server.later.utf8))
        }

        /// Has an upload refused, lets all the time pass that it would wait for leave, and gives up the rest of the answer.
        private func beRefused(_ version: TransportConfiguration.HTTPVersions, _ url: String) async throws {
            let configuration = TransportConfiguration(httpVersions: version)
            let transport = wireTransport(WireSettings(configuration, patience: Self.hour))
            let loop = try #require(transport.executor as? WireLoop)
            let headers: HTTPHeaders = ["Expect": "100-continue"]
            let response = try await transport.deliver(HTTPRequest(.put, url, headers: headers, body: .bytes([1, 2, 3])))
            #expect(response.status == 413)
            await onLoop(loop) {
                loop.clock.pointee += Self.hour
                loop.runTimers()
            }
            response.body.close()
        }

        @Test func `A body that was refused isn't sent, however long the answer takes`() async throws {
            let body = Suspension<[UInt8]?>()
            let server = try RawServer { connection in
                guard connection.readHead() != nil else { return }
                connection.write("HTTP/1.1 413 Content Too Large\r\nContent-Length: 5\r\n\r\n")
                body.resume(connection.readSome())
            }
            try await beRefused(.http1Only, server.url)
            #expect(await body.value() == nil)
        }

        @Test func `Nor over HTTP/2`() async throws {
            let (kinds, isOver) = (Locked<[HTTP2Frame.Kind]>([]), Gate())
            let server = try RawServer.http2 { peer in
                guard peer.begin() else { return }
                _ = peer.nextRequest { kind in
                    kinds.withLock { $0.append(kind) }
                    if kind == .headers { peer.write(HTTP2Frame.headers([HPACKField(":status", "413")], stream: 1)) }
                }
                isOver.open()
            }
            try await beRefused(.http2PriorKnowledge, server.url)
            await isOver.wait()
            #expect(kinds.withLock { $0.contains(.headers) && !$0.contains(.data) })
        }

        @Test func `What a task has computed before takes nothing of the time for refusing a body`() async throws {
            let (body, hasHead) = (Suspension<[UInt8]?>(), Gate())
            let mayAnswer = DispatchSemaphore(value: 0)
            let server = try RawServer { connection in
                guard connection.readHead() != nil else { return }
                connection.write(RawServer.okResponse)
                guard connection.readHead() != nil else { return }
                hasHead.open()
                mayAnswer.wait()
                connection.write("HTTP/1.1 401 Unauthorized\r\nContent-Length: 5\r\n\r\n")
                body.resume(connection.readSome())
            }
            let configuration = TransportConfiguration(httpVersions: .http1Only)
            let transport = wireTransport(WireSettings(configuration, patience: 60_000_000_000))
            let loop = try #require(transport.executor as? WireLoop)
            let url = server.url
            _ = try await transport.deliver(request(url, .buffered(upTo: 10)))
            // A turn later the connection may be used again without another look at it.
            await onLoop(loop) {}
            let upload = Task {
                try await withTaskExecutorPreference(loop) {
                    // As if the loop had waited for its sockets when the machine started.
                    loop.clock.pointee = 0
                    compute()
                    let headers: HTTPHeaders = ["Expect": "100-continue"]
                    return try await transport.deliver(HTTPRequest(.put, url, headers: headers, body: .bytes([1, 2, 3])))
                }
            }
            await hasHead.wait()
            // A turn of the loop later.
            await onLoop(loop) {}
            mayAnswer.signal()
            let response = try await upload.value
            #expect(response.status == 401)
            response.body.close()
            #expect(await body.value() == nil)
        }

        @Test func `A refusal that comes while a task computes comes before the end of the time for it`() async throws {
            let body = Suspension<[UInt8]?>()
            let (mayAnswer, hasAnswered) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let server = try RawServer { connection in
                guard connection.readHead() != nil else { return }
                mayAnswer.wait()
                connection.write("HTTP/1.1 401 Unauthorized\r\nContent-Length: 5\r\n\r\n")
                hasAnswered.signal()
                body.resume(connection.readSome())
            }
            let configuration = TransportConfiguration(httpVersions: .http1Only)
            let transport = wireTransport(WireSettings(configuration, patience: Self.hour))
            let loop = try #require(transport.executor as? WireLoop)
            let url = server.url
            let upload = Task {
                let headers: HTTPHeaders = ["Expect": "100-continue"]
                return try await transport.deliver(HTTPRequest(.put, url, headers: headers, body: .bytes([1, 2, 3])))
            }
            await eventually { await onLoop(loop) { loop.active.first?.wire.isBodyHeld == true } }
            await onLoop(loop) {
                mayAnswer.signal()
                hasAnswered.wait()
                if let held = loop.active.first?.wire { loop.wake(held, at: MonotonicTime.now()) }
                compute()
            }
            let response = try await upload.value
            #expect(response.status == 401)
            response.body.close()
            #expect(await body.value() == nil)
        }

        /// Gives the statuses of an upload that waits for leave, and of what is asked for after it over the same transport.
        private func statuses(_ url: String, patience: UInt64 = Self.hour) async throws -> [HTTPStatus] {
            let configuration = TransportConfiguration(httpVersions: .http2PriorKnowledge)
            let transport = wireTransport(WireSettings(configuration, patience: patience))
            var upload = HTTPRequest(.put, url, headers: ["Expect": "100-continue"], body: .bytes([1, 2, 3]))
            upload.delivery = .buffered(upTo: 10)
            let first = try await transport.deliver(upload)
            let second = try await transport.deliver(request(url, .buffered(upTo: 10)))
            return [first.status, second.status]
        }

        /// RFC 9110 §10.1.1
        @Test func `Over HTTP/2, too, a server may refuse a body before it comes`() async throws {
            let kinds = Locked<[HTTP2Frame.Kind]>([])
            let server = try RawServer.http2 { peer in
                guard peer.begin() else { return }
                let later = peer.nextRequest { kind in
                    let isFirst = kinds.withLock { kinds in
                        kinds.append(kind)
                        return kinds.count { $0 == .headers } == 1
                    }
                    guard kind == .headers, isFirst else { return }
                    let flags = HTTP2Frame.endHeaders | HTTP2Frame.endStream
                    peer.write(HTTP2Frame.headers([HPACKField(":status", "417")], flags, stream: 1))
                }
                if let later { peer.write(HTTP2Frame.response(stream: later)) }
                peer.answerAll()
            }
            #expect(try await statuses(server.url) == [417, 200])
            #expect(kinds.withLock { $0.contains(.reset) && !$0.contains(.data) })
        }

        @Test(arguments: [true, false])
        func `Over HTTP/2 a body comes when the server lets it, or after a while`(_ isLet: Bool) async throws {
            let server = try RawServer.http2 { peer in
                guard peer.begin() else { return }
                let upload = peer.nextRequest { kind in
                    guard kind == .headers, isLet else { return }
                    peer.write(HTTP2Frame.headers([HPACKField(":status", "100")], stream: 1))
                }
                if let upload { peer.write(HTTP2Frame.response(stream: upload)) }
                peer.answerAll()
            }
            #expect(try await statuses(server.url, patience: isLet ? Self.hour : 1_000_000) == [200, 200])
        }
    }
#endif
