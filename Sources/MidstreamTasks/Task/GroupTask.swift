internal import Interception

/// Several tasks that run side by side, with a result for each.
///
/// ```swift
/// let pages = GroupTask(["home", "about"]) { client.get($0) }
/// for (name, page) in try await pages.result() { … }
/// ```
///
/// The failure of one task is its result and no failure of the group, which gives a result for each key, unless the group fails fast: then
/// the first failure is the group's. A ``TaskResult/rejection`` counts as one there, though its ``TaskResult`` is no failure of its task.
public struct GroupTask<Key: Hashable & Sendable, Member: Sendable>: RequestTask {
    private let tasks: [(key: Key, task: AnyRequestTask<Member>)]
    private let concurrency: Int
    private let failsFast: Bool

    /// Makes a group of a task for each key. Of keys that are the same the first counts.
    ///
    /// - Parameters:
    ///   - keys: In the order in which the tasks are started.
    ///   - concurrency: How many run at the same time at most; 8 by default, at least 1.
    ///   - failsFast: Whether the first failure, or rejection, cancels the others and is thrown; false by default.
    ///   - make: Makes the task of a key.
    public init(
        _ keys: some Sequence<Key>, concurrency: Int = 8, failsFast: Bool = false,
        _ make: (Key) throws -> some RequestTask<Member>
    ) rethrows {
        var seen: Set<Key> = []
        tasks = try keys.filter { seen.insert($0).inserted }.map { ($0, AnyRequestTask(try make($0))) }
        self.concurrency = max(1, concurrency)
        self.failsFast = failsFast
    }

    /// Makes a group of tasks by their keys, started in any order; see ``init(_:concurrency:failsFast:_:)``.
    public init(_ tasks: [Key: some RequestTask<Member>], concurrency: Int = 8, failsFast: Bool = false) {
        self.tasks = tasks.map { ($0, AnyRequestTask($1)) }
        self.concurrency = max(1, concurrency)
        self.failsFast = failsFast
    }

    /// Runs the tasks and gives their results by key when all have ended.
    ///
    /// - Throws: `CancellationError` when the caller's task is cancelled; the first failure, or rejection, of a group that fails fast.
    public func result() async throws -> [Key: Result<Member, any Error>] {
        let (results, failure) = await withTaskGroup(of: (Key, Result<Member, any Error>).self) { group in
            var results: [Key: Result<Member, any Error>] = [:]
            var failure: (any Error)?
            var waiting = tasks[...]
            func start() {
                guard let next = waiting.popFirst() else { return }
                group.addTask {
                    let result = await Result<Member, any Error>.of {
                        // One that is started after the cancellation needn't begin.
                        try Task.checkCancellation()
                        return try await next.task.result()
                    }
                    return (next.key, result)
                }
            }
            for _ in 0..<min(concurrency, tasks.count) { start() }
            while let (key, result) = await group.next() {
                results[key] = result
                if failsFast, failure == nil, let error = Self.failure(of: result) {
                    failure = error
                    group.cancelAll()
                }
                start()
            }
            return (results, failure)
        }
        try Task.checkCancellation()
        if let failure { throw failure }
        return results
    }

    private static func failure(of result: Result<Member, any Error>) -> (any Error)? {
        switch result {
        case .success(let member): return (member as? any Rejectable)?.rejection
        case .failure(let error): return error
        }
    }
}
