#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

#if canImport(Darwin)
    private typealias LockPrimitive = os_unfair_lock_s
#else
    private typealias LockPrimitive = pthread_mutex_t
#endif

/// A value that is only reached while its lock is held.
///
/// One allocation holds both. A pthread mutex rather than `Synchronization.Mutex`, because the thread sanitizer understands it
/// and because it exists on every platform version that the package supports.
///
/// - Invariant: `@unchecked Sendable` is sound because `value` is touched only between lock and unlock.
package struct Locked<Value>: @unchecked Sendable {
    private let storage: Storage

    private final class Storage: ManagedBuffer<Value, LockPrimitive> {
        deinit {
            #if !canImport(Darwin)
                _ = withUnsafeMutablePointerToElements { pthread_mutex_destroy($0) }
            #endif
        }
    }

    package init(_ value: sending Value) {
        let buffer = Storage.create(minimumCapacity: 1) { _ in value }
        buffer.withUnsafeMutablePointerToElements { lock in
            #if canImport(Darwin)
                lock.initialize(to: os_unfair_lock_s())
            #else
                lock.initialize(to: pthread_mutex_t())
                pthread_mutex_init(lock, nil)
            #endif
        }
        storage = unsafeDowncast(buffer, to: Storage.self)
    }

    /// Calls `body` with the value while the lock is held. Not reentrant; `body` must not wait for anything.
    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        try storage.withUnsafeMutablePointers { value, lock in
            #if canImport(Darwin)
                os_unfair_lock_lock(lock)
                defer { os_unfair_lock_unlock(lock) }
            #else
                pthread_mutex_lock(lock)
                defer { pthread_mutex_unlock(lock) }
            #endif
            return try body(&value.pointee)
        }
    }
}
