#if os(Linux)
    import Foundation
    import Interception
    import MidstreamCore
    import MidstreamLoop
    import MidstreamTransport
    import TestSupport
    import Testing

    /// Limits that several loops divide: nobody waits on one while another has room.
    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct SharedLimitTests {
        /// A server that answers each path when the test says so.
        private final class Counter: Sendable {
            private let state = Locked((asked: Set<String>(), released: Set<String>()))
            private let condition: NSCondition
            let server: RawServer

            init() throws {
                let (state, condition) = (state, NSCondition())
                self.condition = condition
                server = try RawServer { connection in
                    while let head = connection.readHead() {
                        let path = String(head.split(separator: " ")[1])
                        _ = state.withLock { $0.asked.insert(path) }
                        condition.lock()
                        while state.withLock({ $0.released.isDisjoint(with: [path, "*"]) }) { condition.wait() }
                        condition.unlock()
                        connection.write(RawServer.okResponse)
                    }
                }
            }

            func has(_ path: String) -> Bool { state.withLock { $0.asked.contains(path) } }

            /// Has a path answered, from now on; `*` is any.
            func release(_ path: String) {
                condition.lock()
                _ = state.withLock { $0.released.insert(path) }
                condition.broadcast()
                condition.unlock()
            }
        }

        private let counter: Counter
        private let url: String

        init() throws {
            counter = try Counter()
            url = counter.server.url
        }

        private func transport(_ loops: Int, _ change: (inout TransportConfiguration) -> Void) -> any LoopTransport {
            var configuration = TransportConfiguration(eventLoops: loops)
            change(&configuration)
            return testedTransport(configuration: configuration)
        }

        private func fetch(
            _ path: String, _ transport: any LoopTransport, from executor: (any TaskExecutor)? = nil,
            timeLimit: Duration? = nil, url: String? = nil
        ) -> Task<HTTPResponse, any Error> {
            let request = HTTPRequest((url ?? self.url) + path)
            let options = ExchangeOptions(delivery: .buffered(upTo: 10), timeLimit: timeLimit)
            return Task(executorPreference: executor) { try await transport.send(request, options) }
        }

        private func asked(_ path: String) async { await eventually { counter.has(path) } }

        @Test func `Who waits on one loop begins on another that gets room, over its connection`() async throws {
            let transport = transport(2) { $0.maximumConnectionsPerHost = 2 }
            var held: [Task<HTTPResponse, any Error>] = []
            for path in ["/0", "/1"] {
                held.append(fetch(path, transport))
                await asked(path)
            }
            let waiting = fetch("/2", transport)
            await eventually { await transport.statistics.waitingRequests == 1 }
            // It waits on the first loop, as one of two that are equally busy.
            counter.release("/1")
            _ = try await held[1].value
            await asked("/2")
            counter.release("*")
            for task in held + [waiting] { #expect(try await task.value.status == 200) }
            #expect(counter.server.accepted == 2)
        }

        @Test(arguments: [true, false]) func `Requests of tasks on one loop have all connections that are allowed`(
            _ isPerHost: Bool
        ) async throws {
            let transport = transport(3) {
                if isPerHost { $0.maximumConnectionsPerHost = 7 } else { $0.maximumConnections = 7 }
            }
            let executor = transport.executor
            var tasks = (0..<7).map { fetch("/\($0)", transport, from: executor) }
            await eventually { await transport.statistics.counts.activeRequests == 7 }
            tasks += (7..<9).map { fetch("/\($0)", transport, from: executor) }
            await eventually { await transport.statistics.counts.waitingRequests == 2 }
            counter.release("*")
            for task in tasks { #expect(try await task.value.status == 200) }
            #expect(counter.server.accepted == 7)
        }

        @Test func `A place among all connections is taken by whoever waits for one, whatever its host`() async throws {
            let other = try Counter()
            let transport = transport(2) { $0.maximumConnections = 2 }
            var held: [Task<HTTPResponse, any Error>] = []
            for path in ["/0", "/1"] {
                held.append(fetch(path, transport))
                await asked(path)
            }
            let waiting = fetch("/2", transport, url: other.server.url)
            await eventually { await transport.statistics.waitingRequests == 1 }
            counter.release("/1")
            await eventually { other.has("/2") }
            other.release("*")
            #expect(try await waiting.value.status == 200)
            counter.release("*")
            for task in held { _ = try await task.value }
        }

        @Test func `What has gone over can be given up, and has the time that it had`() async throws {
            let transport = transport(2) { $0.maximumConnectionsPerHost = 2 }
            let executor = transport.executor
            let first = fetch("/0", transport, from: executor)
            await asked("/0")
            let cancelled = fetch("/1", transport, from: executor)
            await asked("/1")
            cancelled.cancel()
            await #expect(throws: CancellationError.self) { try await cancelled.value }
            let late = fetch("/2", transport, from: executor, timeLimit: .seconds(2))
            await asked("/2")
            let error = await #expect(throws: HTTPError.self) { try await late.value }
            #expect(error?.code == .timeout && error?.phase == .maybeProcessed)
            let next = fetch("/3", transport, from: executor)
            await asked("/3")
            counter.release("*")
            for task in [first, next] { #expect(try await task.value.status == 200) }
        }

        @Test func `Closing ends those that wait on any loop`() async throws {
            let transport = transport(3) { $0.maximumConnectionsPerHost = 3 }
            let executor = transport.executor
            let tasks = (0..<30).map { fetch("/\($0)", transport, from: $0.isMultiple(of: 2) ? executor : nil) }
            await eventually { await transport.statistics.counts.activeRequests == 3 }
            counter.release("*")
            transport.close()
            for task in tasks {
                guard case .failure(let error) = await task.result else { continue }
                #expect((error as? HTTPError)?.code == .connection)
            }
        }

        @Test func `No place is lost by what is given up on its way`() async throws {
            let (loops, limit) = (4, 6)
            let open = Locked((now: 0, most: 0))
            let server = try RawServer { connection in
                open.withLock {
                    $0.now += 1
                    $0.most = max($0.most, $0.now)
                }
                while connection.readHead() != nil { connection.write(RawServer.okResponse) }
                open.withLock { $0.now -= 1 }
            }
            let transport = transport(loops) {
                $0.maximumConnectionsPerHost = limit
                $0.maximumConnections = limit + 2
            }
            let executors = (0..<loops).map { _ in transport.executor }
            var numbers = Search.numbers(71)
            var tasks: [Task<HTTPResponse, any Error>] = []
            for number in 0..<600 {
                // Most of one loop, so that it always has some that wait.
                let executor = number % 5 == 0 ? nil : executors[number % 7 == 0 ? number % loops : 0]
                let task = fetch("/\(number)", transport, from: executor, url: server.url)
                tasks.append(task)
                if number % 3 == 0 { Task(executorPreference: executors[number % loops]) { task.cancel() } }
                if Int.random(in: 0..<40, using: &numbers) == 0 { _ = await task.result }
            }
            for task in tasks {
                switch await task.result {
                case .success(let response): #expect(response.status == 200)
                case .failure(let error): #expect(error is CancellationError)
                }
            }
            await eventually { await transport.statistics.counts.activeRequests == 0 }
            // A connection that was given up may be seen to end after the next has been made.
            #expect(open.withLock { $0.most } <= 2 * limit)
            #expect(await transport.statistics.waitingRequests == 0)
            let again = (0..<limit + 2).map { fetch("/again\($0)", transport, from: executors[0]) }
            await eventually { await transport.statistics.counts.activeRequests == limit }
            #expect(await transport.statistics.waitingRequests == 2)
            counter.release("*")
            for task in again { _ = try await task.value }
            let loop = try #require(executors[0] as? EventLoop)
            #expect(await onLoop(loop) { loop.admission.counts?.isAnyUnclaimed } == false)
        }
    }
#endif
