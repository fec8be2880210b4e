#if os(Linux)
    import Foundation
    import Interception
    import MidstreamCore
    import MidstreamLoop
    import MidstreamTransport
    import TestSupport
    import Testing

    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct LoopTests {
        let transport = testedTransport()

        @Test func `Connections are kept`() async throws {
            let server = try RawServer.ok()
            _ = try await transport.deliver(request(server.url, .buffered(upTo: 10)))
            for _ in 0..<20 {
                let response = try await transport.deliver(request(server.url, .buffered(upTo: 10)))
                #expect(response.metrics?.isReusedConnection == true)
            }
            #expect(server.accepted == 1)
        }

        @Test func `Connections aren't kept when that isn't wanted`() async throws {
            let server = try RawServer.ok()
            var configuration = TransportConfiguration()
            configuration.keepsConnections = false
            let transport = testedTransport(configuration: configuration)
            for _ in 0..<3 { _ = try await transport.deliver(request(server.url, .buffered(upTo: 10))) }
            #expect(server.accepted == 3)
        }

        @Test(arguments: [true, false])
        func `The wait for a place is a part of what an exchange takes`(_ keepsConnections: Bool) async throws {
            let mayAnswer = DispatchSemaphore(value: 0)
            let server = try RawServer.answering { _ in
                mayAnswer.wait()
                return RawServer.okResponse
            }
            let transport = testedTransport(
                configuration: TransportConfiguration(maximumConnectionsPerHost: 1, keepsConnections: keepsConnections))
            let loop = try #require(transport.executor as? EventLoop)
            let url = server.url
            let first = Task { try await transport.deliver(request(url, .buffered(upTo: 10))) }
            await eventually { await onLoop(loop) { loop.active.count } == 1 }
            let second = Task { try await transport.deliver(request(url, .buffered(upTo: 10))) }
            await eventually { await onLoop(loop) { loop.admission.waitingCount } == 1 }
            // As if it had waited since the machine started.
            let time = await onLoop(loop) {
                for transfer in loop.admission.waiting { transfer.startTime = 1 }
                return MonotonicTime.now()
            }
            for _ in 1...2 { mayAnswer.signal() }
            _ = try await first.value
            let metrics = try #require(try await second.value.metrics)
            let wait = Duration.nanoseconds(time - 1)
            #expect(metrics.isReusedConnection == keepsConnections)
            let (begun, end) = (try #require(metrics.sendStart), try #require(metrics.total))
            #expect(begun >= wait && end >= begun, "\(metrics)")
            if !keepsConnections { #expect(try #require(metrics.connectStart) >= wait) }
        }

        @Test func `A kept connection that the server closes costs nothing more`() async throws {
            let server = try RawServer { connection in
                _ = connection.readHead()
                connection.write(RawServer.okResponse)
            }
            for _ in 0..<3 { #expect(try await transport.deliver(request(server.url, .buffered(upTo: 10))).status == 200) }
            #expect(server.accepted == 3)
        }

        @Test(arguments: [(limit: 2, loops: 1), (limit: 2, loops: 4), (limit: 5, loops: 3)])
        func `No more connections than allowed are made`(_ limit: Int, _ loops: Int) async throws {
            let open = Locked((now: 0, most: 0))
            let server = try RawServer { connection in
                open.withLock {
                    $0.now += 1
                    $0.most = max($0.most, $0.now)
                }
                while connection.readHead() != nil {
                    connection.write(RawServer.okResponse)
                }
                open.withLock { $0.now -= 1 }
            }
            var configuration = TransportConfiguration()
            configuration.maximumConnectionsPerHost = limit
            configuration.eventLoops = loops
            let transport = testedTransport(configuration: configuration)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<40 { group.addTask { _ = try await transport.deliver(request(server.url, .buffered(upTo: 10))) } }
                try await group.waitForAll()
            }
            #expect(open.withLock { $0.most } <= limit)
        }

        @Test func `Requests go where a connection is free, and don't wait for a long one`() async throws {
            let (begun, held) = (Gate(), DispatchSemaphore(value: 0))
            let server = try RawServer.answering { request in
                if request.lines[0].hasPrefix("GET /long") {
                    begun.open()
                    held.wait()
                }
                return RawServer.okResponse
            }
            defer { held.signal() }
            var configuration = TransportConfiguration()
            configuration.maximumConnectionsPerHost = 3
            configuration.eventLoops = 3
            let transport = testedTransport(configuration: configuration)
            async let long = transport.deliver(request("\(server.url)/long", .buffered(upTo: 10)))
            await begun.wait()
            for _ in 0..<6 { _ = try await transport.deliver(request("\(server.url)/short", .buffered(upTo: 10))) }
            held.signal()
            _ = try await long
        }

        @Test func `Requests one after the other share a connection, however many loops there are`() async throws {
            let server = try RawServer.ok()
            let transport = testedTransport(configuration: TransportConfiguration(eventLoops: 4))
            for _ in 0..<12 { _ = try await transport.deliver(request(server.url, .buffered(upTo: 10))) }
            #expect(server.accepted == 1)
        }

        @Test(arguments: [1, 3]) func `Many requests at a time are all answered, from loops and elsewhere`(_ loops: Int)
            async throws
        {
            let server = try RawServer.answering { "HTTP/1.1 200 OK\r\nX-Line: \($0.lines[0])\r\nContent-Length: 0\r\n\r\n" }
            var configuration = TransportConfiguration()
            configuration.eventLoops = loops
            configuration.maximumConnectionsPerHost = 16
            let transport = testedTransport(configuration: configuration)
            @Sendable func fetch(_ number: Int) async throws -> Bool {
                let delivery: BodyDelivery = number.isMultiple(of: 2) ? .streamed : .buffered(upTo: 10)
                let response = try await transport.deliver(request("\(server.url)/\(number)", delivery))
                _ = try await response.body.collect()
                return response.headers["X-Line"] == "GET /\(number) HTTP/1.1"
            }
            let executors = (0..<loops).map { _ in transport.executor }
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<600 {
                    if number.isMultiple(of: 3) {
                        group.addTask { try await fetch(number) }
                    } else {
                        group.addTask(executorPreference: executors[number % loops]) { try await fetch(number) }
                    }
                }
                for try await isRight in group { #expect(isRight) }
            }
        }

        @Test func `Cancelling at any moment resumes each caller once`() async throws {
            let server = try RawServer.answering { _ in
                "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + String(repeating: "a", count: 100_000)
            }
            var tasks: [Task<Int, any Error>] = []
            for number in 0..<300 {
                let request = request(server.url, deliveries[number % 2])
                let task = Task { try await transport.deliver(request).body.collect().count }
                tasks.append(task)
                if number % 3 > 0 { Task { task.cancel() } }
                if number.isMultiple(of: 20) { _ = await task.result }
            }
            for task in tasks {
                switch await task.result {
                case .success(let count): #expect(count == 100_000)
                case .failure(let error): #expect(error is CancellationError)
                }
            }
            // Nothing is left behind on the loop.
            let loop = try #require(transport.executor as? EventLoop)
            #expect(await onLoop(loop) { loop.active.isEmpty })
        }

        @Test func `Tasks run on the loop's thread, and elsewhere once it has ended`() async throws {
            let server = try RawServer.ok()
            let loop = try #require(transport.executor as? EventLoop)
            let url = server.url
            let isCurrent = await withTaskExecutorPreference(loop) {
                let before = loop.isCurrent
                _ = try? await transport.deliver(request(url, .buffered(upTo: 10)))
                return before && loop.isCurrent
            }
            #expect(isCurrent)
            transport.close()
            let isStillCurrent = await withTaskExecutorPreference(loop) {
                try? await Task.sleep(for: .milliseconds(1))
                return loop.isCurrent
            }
            #expect(!isStillCurrent)
        }

        @Test func `Closing waits for the thread`() async throws {
            let server = try RawServer { $0.waitForEnd() }
            let url = server.url
            let task = Task { try await transport.deliver(request(url, .buffered(upTo: 10))) }
            await eventually { server.accepted == 1 }
            let loop = try #require(transport.executor as? EventLoop)
            transport.close()
            // The thread's alone as long as there is one.
            #expect(loop.active.isEmpty)
            await #expect(throws: HTTPError.self) { try await task.value }
        }

        @Test func `A transport that is dropped leaves nothing behind`() async throws {
            let server = try RawServer.ok()
            weak var weakLoop: EventLoop?
            do {
                let transport = testedTransport()
                _ = try await transport.deliver(request(server.url, .buffered(upTo: 10)))
                weakLoop = transport.executor as? EventLoop
                #expect(weakLoop != nil)
            }
            // The thread lets go of it as its last act.
            await eventually { weakLoop == nil }
        }

        @Test(arguments: [true, false])
        func `A streamed response that is over keeps no transport going`(_ isRead: Bool) async throws {
            let server = try RawServer.ok()
            weak var weakLoop: EventLoop?
            let response: HTTPResponse
            do {
                let transport = testedTransport()
                response = try await transport.deliver(request(server.url, .streamed))
                if isRead { _ = try await response.body.collect() } else { response.body.close() }
                weakLoop = transport.executor as? EventLoop
                #expect(weakLoop != nil)
            }
            await eventually { weakLoop == nil }
            #expect(response.status == 200)
        }

        @Test func `Connections go where they are redirected`() async throws {
            let server = try RawServer.answering { "HTTP/1.1 200 OK\r\nX-Host: \($0.lines[1])\r\nContent-Length: 0\r\n\r\n" }
            var configuration = TransportConfiguration()
            configuration.hostOverrides = ["example.test:80": "127.0.0.1:\(server.port)", "v6.test:80": "[::1]:1"]
            let transport = testedTransport(configuration: configuration)
            #expect(try await transport.deliver(HTTPRequest("http://example.test/")).headers["X-Host"] == "Host: example.test")
            let error = try await #require(throws: HTTPError.self) { try await transport.deliver(HTTPRequest("http://v6.test/")) }
            #expect(error.code == .connection)
        }
    }
#endif
