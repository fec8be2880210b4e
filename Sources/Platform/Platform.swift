// The system's C library under one name, whichever it is.
#if canImport(Darwin)
    @_exported public import Darwin
#elseif canImport(Glibc)
    @_exported public import Glibc
#elseif canImport(Musl)
    @_exported public import Musl
#endif

/// Calls whose C names are hidden where a type has a member of the same name.
package enum System {
    /// `read(2)`.
    package static func read(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
        _read(descriptor, buffer, count)
    }

    /// `write(2)`.
    package static func write(_ descriptor: Int32, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
        _write(descriptor, buffer, count)
    }

    /// `pread(2)` until no signal interrupts it; without an offset, the same by `read(2)`.
    package static func read(
        _ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int, at offset: Int64?
    ) -> Int {
        while true {
            let result = offset.map { pread(descriptor, buffer, count, off_t($0)) } ?? _read(descriptor, buffer, count)
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

    /// `send(2)`.
    package static func send(_ descriptor: Int32, _ buffer: UnsafeRawPointer?, _ count: Int, _ flags: Int32) -> Int {
        _send(descriptor, buffer, count, flags)
    }

    /// `bind(2)`.
    package static func bind(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Int32 {
        _bind(descriptor, address, length)
    }

    /// `accept(2)`, without asking for the peer's address.
    package static func accept(_ descriptor: Int32) -> Int32 { _accept(descriptor) }

    /// `close(2)`.
    @discardableResult
    package static func close(_ descriptor: Int32) -> Int32 { _close(descriptor) }
}

private func _read(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(descriptor, buffer, count)
}
private func _write(_ descriptor: Int32, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int { write(descriptor, buffer, count) }
private func _send(_ descriptor: Int32, _ buffer: UnsafeRawPointer?, _ count: Int, _ flags: Int32) -> Int {
    send(descriptor, buffer, count, flags)
}
private func _bind(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Int32 {
    bind(descriptor, address, length)
}
private func _accept(_ descriptor: Int32) -> Int32 { accept(descriptor, nil, nil) }
private func _close(_ descriptor: Int32) -> Int32 { close(descriptor) }
