import Interception
import Testing

@Suite("Interception.md")
struct InterceptionExamples {
    struct Query: Hashable, Sendable {
        var sql: String
        var arguments: [String] = []
    }

    typealias Rows = [[String: String]]

    enum DatabaseError: Error, Equatable {
        case deadlock
        case noSuchTable
    }

    /// Answers with a row, after as many deadlocks as it is told to have.
    actor Database {
        private(set) var queries: [Query] = []
        private var deadlocks: Int

        init(deadlocks: Int = 0) { self.deadlocks = deadlocks }

        func run(_ query: Query) throws -> Rows {
            queries.append(query)
            if query.sql.contains("nowhere") { throw DatabaseError.noSuchTable }
            if deadlocks > 0 {
                deadlocks -= 1
                throw DatabaseError.deadlock
            }
            return [["name": "Ann"]]
        }
    }

    /// Tells a closure what became of each query.
    struct QueryLog: Interceptor {
        let write: @Sendable (String) -> Void

        func intercept(_ query: Query, next: Next<Query, Rows>) async throws -> Rows {
            do {
                let rows = try await next(query)
                write("\(query.sql): \(rows.count) rows")
                return rows
            } catch {
                write("\(query.sql): \(error)")
                throw error
            }
        }
    }

    /// Runs a query again that lost a deadlock. Each call of `next` runs the rest of the chain afresh.
    struct DeadlockRetry: Interceptor {
        let attempts: Int

        func intercept(_ query: Query, next: Next<Query, Rows>) async throws -> Rows {
            for _ in 1..<attempts {
                do {
                    return try await next(query)
                } catch DatabaseError.deadlock {
                    continue
                }
            }
            return try await next(query)
        }
    }

    /// Answers a query that it has seen before without asking the database.
    actor QueryCache: Interceptor {
        private var known: [Query: Rows] = [:]

        func intercept(_ query: Query, next: Next<Query, Rows>) async throws -> Rows {
            if let rows = known[query] { return rows }
            let rows = try await next(query)
            known[query] = rows
            return rows
        }
    }

    /// Runs a query once for all who ask the same at the same time.
    struct Coalescing: Interceptor {
        let running = SingleFlight<Query, Rows>()

        func intercept(_ query: Query, next: Next<Query, Rows>) async throws -> Rows {
            try await running.run(query) { try await next(query) }
        }
    }

    @Test("Equal queries at the same time are one")
    func coalescing() async throws {
        let coalescing = Coalescing()
        let database = Database()
        let gate = AsyncStream.makeStream(of: Void.self)
        let queries = InterceptorChain<Query, Rows>([coalescing]) { query in
            for await _ in gate.stream { break }
            return try await database.run(query)
        }
        let ann = Query(sql: "SELECT name FROM users WHERE id = ?", arguments: ["42"])
        async let first = queries.proceed(ann)
        async let second = queries.proceed(ann)
        while coalescing.running.waiters(for: ann) < 2 { await Task.yield() }
        gate.continuation.yield()
        #expect(try await first == second)
        #expect(await database.queries.count == 1)
    }

    final class Lines: Sendable {
        private let kept = Locked<[String]>([])
        var all: [String] { kept.withLock { $0 } }
        func write(_ line: String) { kept.withLock { $0.append(line) } }
    }

    @Test("C1 A database query: log, cache, retry, database")
    func database() async throws {
        let database = Database(deadlocks: 2)
        let log = Lines()
        let queries = InterceptorChain<Query, Rows>(
            [
                QueryLog { log.write($0) },
                QueryCache(),
                DeadlockRetry(attempts: 3),
            ]
        ) { query in
            try await database.run(query)
        }

        let ann = Query(sql: "SELECT name FROM users WHERE id = ?", arguments: ["42"])
        let rows = try await queries.proceed(ann)
        let again = try await queries.proceed(ann)  // from the cache
        #expect(rows == [["name": "Ann"]])
        #expect(again == rows)
        #expect(await database.queries == [ann, ann, ann])
        #expect(log.all == ["\(ann.sql): 1 rows", "\(ann.sql): 1 rows"])

        await #expect(throws: DatabaseError.noSuchTable) { try await queries.proceed(Query(sql: "SELECT * FROM nowhere")) }
        #expect(log.all.last == "SELECT * FROM nowhere: noSuchTable")
    }

    @Test("C2 Inputs flow in the order added, outputs in reverse")
    func onion() async throws {
        let triple = ClosureInterceptor<Int, String> { number, next in
            try await next(number * 3) + " multiplied"
        }
        let halve = ClosureInterceptor<Int, String> { number, next in
            try await next(number / 2) + " divided"
        }
        let chain = InterceptorChain<Int, String> { "result: \($0)" }
            .adding(triple)
            .adding(halve)

        let text = try await chain.proceed(6)  // "result: 9 divided multiplied"
        #expect(text == "result: 9 divided multiplied")
        let both = triple.chain(before: halve)
        let same = InterceptorChain([both]) { "result: \($0)" }
        #expect(try await same.proceed(6) == text)
    }

    /// An interceptor from the days of completion handlers.
    struct Uppercase: CompletionInterceptor {
        func intercept(
            _ key: String, next: CompletionNext<String, String>,
            completion: @escaping @Sendable (Result<String, any Error>) -> Void
        ) {
            next(key.lowercased()) { result in
                completion(result.map { $0.uppercased() })
            }
        }
    }

    @Test("C5 Callback style, at both ends")
    func callbacks() async throws {
        let lookup = InterceptorChain<String, String>(
            [Uppercase()],
            completionTerminal: { key, completion in
                completion(.success("value of \(key)"))
            })

        let value = try await lookup.proceed("KEY")  // "VALUE OF KEY"
        lookup.proceed("KEY") { result in
            print(result)
        }
        #expect(value == "VALUE OF KEY")
    }

    @Test("C5 A handler that is dropped surfaces as an error")
    func dropped() async throws {
        let forgetful = InterceptorChain<String, String>([], completionTerminal: { _, _ in })
        await #expect(throws: CompletionDropped()) { try await forgetful.proceed("key") }
    }
}
