// The system's C library under one name, whichever it is: `MidstreamPlatform.close` where a type has a member of the same name.
#if canImport(Darwin)
    @_exported public import Darwin
#elseif canImport(Glibc)
    @_exported public import Glibc
#elseif canImport(Musl)
    @_exported public import Musl
#endif

/// Reads and writes that are repeated where a signal interrupts them.
package enum System {
    /// `pread(2)` until no signal interrupts it.
    package static func read(
        _ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int, at offset: Int64
    ) -> Int {
        while true {
            let result = pread(descriptor, buffer, count, off_t(offset))
            if result >= 0 || errno != EINTR { return result }
        }
    }

    /// `pwrite(2)` until all bytes are written.
    ///
    /// - Returns: False when they can't be; `errno` says why.
    package static func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64) -> Bool {
        var done = 0
        while done < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
            let count = pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset) + off_t(done))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            done += count
        }
        return true
    }

    /// How many bytes ``fillRandomly(_:)`` gives at most.
    package static let mostEntropy = 256

    /// Fills a buffer with what the system's generator gives that secrets are made with.
    ///
    /// - Returns: False when it gives nothing.
    package static func fillRandomly(_ buffer: UnsafeMutableRawBufferPointer) -> Bool {
        guard let start = buffer.baseAddress else { return true }
        #if canImport(Darwin)
            arc4random_buf(start, buffer.count)
            return true
        #else
            return getentropy(start, buffer.count) == 0
        #endif
    }
}

/// What changes when a file is written, or another takes its place.
package struct FileVersion: Equatable, Sendable {
    /// The device, the file's number, its size, and when it was written.
    private let values: [Int64]

    /// nil where there is no file.
    package init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        #if canImport(Darwin)
            let written = status.st_mtimespec
        #else
            let written = status.st_mtim
        #endif
        values = [
            Int64(truncatingIfNeeded: status.st_dev), Int64(truncatingIfNeeded: status.st_ino), Int64(status.st_size),
            Int64(written.tv_sec), Int64(written.tv_nsec),
        ]
    }
}

/// A thread that nobody joins.
package enum DetachedThread {
    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Runs `body` on a new thread. It is detached from its beginning: where it ended before its creator detached it, and the process just
    /// then, it would count as leaked.
    ///
    /// - Parameter stackSize: In bytes; nil: what the system gives.
    /// - Returns: The system's error; zero: there is a thread.
    package static func start(stackSize: Int? = nil, _ body: @escaping @Sendable () -> Void) -> Int32 {
        var attributes = pthread_attr_t()
        let problem = pthread_attr_init(&attributes)
        guard problem == 0 else { return problem }
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        if let stackSize { pthread_attr_setstacksize(&attributes, stackSize) }
        let argument = Unmanaged.passRetained(Body(body))
        #if canImport(Darwin)
            var thread: pthread_t?
        #else
            var thread = pthread_t()
        #endif
        let result = pthread_create(
            &thread, &attributes,
            { argument in
                #if canImport(Darwin)
                    Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
                #else
                    if let argument { Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run() }
                #endif
                return nil
            }, argument.toOpaque())
        if result != 0 { argument.release() }
        return result
    }
}
