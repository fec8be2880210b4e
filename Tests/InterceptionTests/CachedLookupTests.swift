import Interception
import TestSupport
import Testing

/// A lookup of users by number that knows nothing of HTTP: a table, and in front of it a cache and a log.
private struct Cache<Key: Hashable & Sendable, Value: Sendable>: Interceptor {
    private let known = Locked<[Key: Value]>([:])

    func intercept(_ key: Key, next: Next<Key, Value>) async throws -> Value {
        if let value = known.withLock({ $0[key] }) { return value }
        let value = try await next(key)
        known.withLock { $0[key] = value }
        return value
    }
}

private struct Log<Key: Sendable, Value: Sendable>: Interceptor {
    let steps: Steps

    func intercept(_ key: Key, next: Next<Key, Value>) async throws -> Value {
        do {
            let value = try await next(key)
            steps.note("\(key): \(value)")
            return value
        } catch {
            steps.note("\(key): no answer")
            throw error
        }
    }
}

private struct User: Sendable, Equatable { let name: String }

@Suite("C1. The chain works on any input and output")
struct CachedLookupTests {
    @Test("C1 a cached, logged lookup")
    func lookup() async throws {
        let (asked, queries) = (Steps(), Steps())
        let table = [1: User(name: "Ada"), 2: User(name: "Grace")]
        let users = InterceptorChain<Int, User>([Log(steps: asked), Cache(), Log(steps: queries)]) { id in
            guard let user = table[id] else { throw Failure("no user \(id)") }
            return user
        }
        #expect(try await users.proceed(1) == User(name: "Ada"))
        #expect(try await users.proceed(1) == User(name: "Ada"))
        #expect(try await users.proceed(2) == User(name: "Grace"))
        await #expect(throws: Failure("no user 3")) { try await users.proceed(3) }
        await #expect(throws: Failure("no user 3")) { try await users.proceed(3) }
        #expect(asked.all.count == 5)
        #expect(queries.all.count == 4, "a known user isn't looked up again, and a failure isn't kept")
    }
}
