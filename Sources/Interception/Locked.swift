internal import MidstreamPlatform

/// A value that is only reached while its lock is held.
///
/// One allocation holds both. A pthread mutex rather than `Synchronization.Mutex`, because the thread sanitizer understands it
/// and because it exists on every platform version that the package supports.
///
/// - Invariant: `@unchecked Sendable` is sound because `value` is touched only between `acquire` and `release`.
@usableFromInline
package struct Locked<Value>: @unchecked Sendable {
    @usableFromInline
    final class Storage: ManagedBuffer<Value, LockWord> {
        @inlinable deinit { withUnsafeMutablePointerToElements { LockWord.destroy($0) } }
    }

    @usableFromInline let storage: Storage

    @inlinable
    package init(_ value: sending Value) {
        let buffer = Storage.create(minimumCapacity: LockWord.count) { _ in value }
        buffer.withUnsafeMutablePointerToElements { LockWord.create($0) }
        storage = unsafeDowncast(buffer, to: Storage.self)
    }

    /// With a value that is made where it stays, which saves a copy of it.
    @inlinable
    package init(made value: () -> sending Value) {
        let buffer = Storage.create(minimumCapacity: LockWord.count) { _ in value() }
        buffer.withUnsafeMutablePointerToElements { LockWord.create($0) }
        storage = unsafeDowncast(buffer, to: Storage.self)
    }

    /// Calls `body` with the value while the lock is held. Not reentrant; `body` must not wait for anything.
    @inlinable
    package func withLock<Result: ~Copyable>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        try storage.withUnsafeMutablePointers { value, lock in
            LockWord.acquire(lock)
            defer { LockWord.release(lock) }
            return try body(&value.pointee)
        }
    }

    /// The same when nobody else holds the lock; otherwise nil, at once.
    @inlinable
    package func withLockIfFree<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result? {
        try storage.withUnsafeMutablePointers { value, lock in
            guard LockWord.tryToAcquire(lock) else { return nil }
            defer { LockWord.release(lock) }
            return try body(&value.pointee)
        }
    }
}

/// A piece of the memory in which the system's lock lives. The lock itself stays out of the signatures, so that `Locked` can
/// be inlined into other modules without their knowing it.
@usableFromInline
struct LockWord {
    private var word: UInt64 = 0

    #if canImport(Darwin)
        private typealias Primitive = os_unfair_lock_s
    #else
        private typealias Primitive = pthread_mutex_t
    #endif

    /// How many of these hold one lock.
    @usableFromInline
    static var count: Int { (MemoryLayout<Primitive>.size + MemoryLayout<LockWord>.size - 1) / MemoryLayout<LockWord>.size }

    private static func primitive(_ words: UnsafeMutablePointer<LockWord>) -> UnsafeMutablePointer<Primitive> {
        UnsafeMutableRawPointer(words).assumingMemoryBound(to: Primitive.self)
    }

    @usableFromInline
    static func create(_ words: UnsafeMutablePointer<LockWord>) {
        let lock = UnsafeMutableRawPointer(words).bindMemory(to: Primitive.self, capacity: 1)
        lock.initialize(to: Primitive())
        #if !canImport(Darwin)
            pthread_mutex_init(lock, nil)
        #endif
    }

    @usableFromInline
    static func destroy(_ words: UnsafeMutablePointer<LockWord>) {
        #if !canImport(Darwin)
            pthread_mutex_destroy(primitive(words))
        #endif
    }

    @usableFromInline
    static func acquire(_ words: UnsafeMutablePointer<LockWord>) {
        #if canImport(Darwin)
            os_unfair_lock_lock(primitive(words))
        #else
            pthread_mutex_lock(primitive(words))
        #endif
    }

    @usableFromInline
    static func tryToAcquire(_ words: UnsafeMutablePointer<LockWord>) -> Bool {
        #if canImport(Darwin)
            os_unfair_lock_trylock(primitive(words))
        #else
            pthread_mutex_trylock(primitive(words)) == 0
        #endif
    }

    @usableFromInline
    static func release(_ words: UnsafeMutablePointer<LockWord>) {
        #if canImport(Darwin)
            os_unfair_lock_unlock(primitive(words))
        #else
            pthread_mutex_unlock(primitive(words))
        #endif
    }
}
