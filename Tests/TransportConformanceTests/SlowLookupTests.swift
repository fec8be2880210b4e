#if os(Linux)
    import Foundation
    import Interception
    import LibraryInterposition
    import MidstreamCore
    import MidstreamTransport
    import TestSupport
    import Testing

    @testable import MidstreamWire

    /// Names are looked up on threads of their own, which nobody may wait for when their transfer is given up. Curl does by default.
    @Suite(.leavesNothing, .serialized, .timeLimit(.minutes(10))) struct SlowLookupTests {
        enum End: CaseIterable { case cancellation, connectTimeout }

        @Test(arguments: ConfiguredTransport.allCases, End.allCases)
        func `A lookup that hangs holds up nothing but its own request`(_ kind: ConfiguredTransport, _ end: End) async throws {
            var configuration = TransportConfiguration()
            if end == .connectTimeout { configuration.connectTimeout = .seconds(2) }
            let transport = kind.make(configuration)
            let server = try RawServer.answering { _ in "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" }
            defer { release_stalled_lookups() }

            let hanging = Task { try await transport.send(HTTPRequest("http://stalled-lookup.invalid/")) }
            let isStalled = await offTheCooperativePool { wait_for_stalled_lookup() }
            #expect(isStalled, "The transport's lookups don't come here.")
            if end == .cancellation { hanging.cancel() }
            let error = await #expect(throws: (any Error).self) { try await hanging.value }
            switch end {
            case .cancellation: #expect(error is CancellationError)
            case .connectTimeout: #expect((error as? HTTPError)?.phase == .notSent)
            }

            let response = try await transport.send(HTTPRequest(server.url))
            #expect(response.status == 200)
            // Newer versions of libcurl look both families of addresses up by themselves.
            #expect(stalled_lookups() > 0, "The other request had to wait for the lookup.")
        }

        @Test func `A name that nobody waits for any more isn't looked up`() async {
            let lookup = HostLookup()
            let threads = UInt16(HostLookup.mostThreads)
            for port in 1...threads { _ = lookup.find("stalled-lookup.invalid", port: port) { _ in } }
            await eventually { stalled_lookups() == Int32(threads) }
            let asking = lookup.find("localhost", port: 1_000) { _ in }
            let answers = Locked(0)
            // So many that the first would be looked up when the last is.
            for port in 2_001...3_000 as ClosedRange<UInt16> {
                _ = lookup.find("localhost", port: port) { _ in answers.withLock { $0 += 1 } }
            }
            lookup.giveUp(asking)
            release_stalled_lookups()
            await eventually { answers.withLock { $0 } == 1_000 }
            #expect(lookup.known("localhost", port: 1_000) == nil)
        }

        @Test func `A name is looked up while some others hang`() async {
            let lookup = HostLookup()
            defer { release_stalled_lookups() }
            for port in 1...8 as ClosedRange<UInt16> { _ = lookup.find("stalled-lookup.invalid", port: port) { _ in } }
            await eventually { stalled_lookups() == 8 }
            let isFound = Locked(false)
            _ = lookup.find("localhost", port: 9) { _ in isFound.withLock { $0 = true } }
            await eventually { isFound.withLock { $0 } }
            #expect(stalled_lookups() == 8)
        }

        @Test func `A retry looks a name up again that no server has answered for`() async throws {
            fail_lookups(1)
            let server = try RawServer.answering { _ in "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" }
            let configuration = HTTPClient.Configuration(timeout: nil, maxRetries: 3, clock: ImmediateClock())
            let client = testClient(configuration: configuration, transport: wireTransport())
            let response = try await client.send(HTTPRequest("http://failing-lookup.invalid:\(server.port)/"))
            #expect(response.status == 200 && client.retryBudget?.retries == 1)
        }

        @Test func `Old addresses serve where a lookup would have to wait for others`() async throws {
            let (time, isFound) = (Locked<UInt64>(7), Locked(false))
            let lookup = HostLookup(now: { time.withLock { $0 } })
            _ = lookup.find("localhost", port: 5) { _ in isFound.withLock { $0 = true } }
            await eventually { isFound.withLock { $0 } }
            let addresses = try lookup.known("localhost", port: 5)?.get()
            time.withLock { $0 += 61_000_000_000 }
            #expect(lookup.known("localhost", port: 5) == nil)

            defer { release_stalled_lookups() }
            for port in 1...4 as ClosedRange<UInt16> { _ = lookup.find("stalled-lookup.invalid", port: port) { _ in } }
            await eventually { stalled_lookups() == 4 }
            #expect(try addresses != nil && lookup.known("localhost", port: 5)?.get() == addresses)
            // An hour at most.
            time.withLock { $0 += 3_600_000_000_000 }
            #expect(lookup.known("localhost", port: 5) == nil)
        }

        @Test func `Old addresses serve when nobody can tell those of today, which are looked up behind that`() async throws {
            let (time, lookups, minute) = (Locked<UInt64>(7), Locked(0), 60_000_000_000 as UInt64)
            let lookup = HostLookup(
                now: { time.withLock { $0 } },
                start: { body in
                    lookups.withLock { $0 += 1 }
                    body()
                    return 0
                })
            let host = "failing-lookup.invalid"
            func find() async -> HostLookup.Found {
                await withCheckedContinuation { continuation in
                    _ = lookup.find(host, port: 80) { continuation.resume(returning: $0) }
                }
            }
            fail_lookups(0)
            let addresses = try await find().get()
            time.withLock { $0 += minute }
            #expect(lookup.known(host, port: 80) == nil)
            fail_lookups(1)
            #expect(try await find().get() == addresses)
            time.withLock { $0 += minute - 1 }
            #expect(try lookup.known(host, port: 80)?.get() == addresses)
            #expect(lookups.withLock { $0 } == 3)
            time.withLock { $0 += minute - 1 }
            #expect(try lookup.known(host, port: 80)?.get() == addresses)
            #expect(lookups.withLock { $0 } == 3)
        }
    }

    private func offTheCooperativePool(_ work: @escaping @Sendable () -> Bool) async -> Bool {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: work()) }
        }
    }
#endif
