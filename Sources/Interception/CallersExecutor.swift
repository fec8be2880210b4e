/// The executor that the present task prefers, for tasks that are started on its behalf: unlike child tasks they don't inherit it.
///
/// None outside a task, before macOS 26.4 and its siblings, and with compilers before 6.3.
@usableFromInline
package struct CallersExecutor: Sendable {
    /// A task executor, in a form that older systems have.
    @usableFromInline
    package let preferred: (any Sendable)?

    /// - Parameter preferred: A task executor.
    package init(_ preferred: (any Sendable)?) { self.preferred = preferred }

    /// That of the present task.
    @usableFromInline
    package init() {
        #if compiler(>=6.3)
            if #available(macOS 26.4, iOS 26.4, watchOS 26.4, tvOS 26.4, visionOS 26.4, *) {
                preferred = withUnsafeCurrentTask { $0?.unownedTaskExecutor?.asTaskExecutor() }
                return
            }
        #endif
        preferred = nil
    }

    /// Starts a task there.
    @discardableResult
    package func start(_ operation: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        if #available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *) {
            return Task(executorPreference: preferred as? any TaskExecutor, operation: operation)
        }
        return Task(operation: operation)
    }

    /// Starts a task there that runs up to its first wait before this returns, where the system supports it, which saves a change of threads. Not
    /// to be called under a lock that the task takes.
    @discardableResult @usableFromInline
    package func startAtOnce(_ operation: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        if #available(macOS 26.0, iOS 26.0, watchOS 26.0, tvOS 26.0, visionOS 26.0, *) {
            return Task.immediate(executorPreference: preferred as? any TaskExecutor, operation: operation)
        }
        return start(operation)
    }

    /// Starts a task there that has none of the present one's task-local values.
    package func startDetached(_ operation: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        if #available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *) {
            return Task.detached(executorPreference: preferred as? any TaskExecutor, operation: operation)
        }
        return Task.detached(operation: operation)
    }
}

extension TaskGroup {
    /// Starts a child task that runs up to its first wait before this returns, where the system supports it, which saves a change of threads. Not
    /// to be called under a lock that the task takes.
    @inlinable
    package mutating func startAtOnce(_ operation: @escaping @Sendable () async -> ChildTaskResult) {
        if #available(macOS 26.0, iOS 26.0, watchOS 26.0, tvOS 26.0, visionOS 26.0, *) {
            // Named, since a child doesn't inherit it where swiftc 6.3 has optimized this for a type that it doesn't know.
            return addImmediateTask(
                executorPreference: CallersExecutor().preferred as? any TaskExecutor, operation: operation)
        }
        addTask(operation: operation)
    }
}
