import Foundation
import Interception

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A TCP connection to a server on 127.0.0.1 whose bytes a test writes and reads itself.
package final class RawClient: Sendable {
    package enum End { case closed, reset }

    private let descriptor: Int32
    private let isOpen = Locked(true)

    package init(port: Int) throws {
        #if canImport(Glibc)
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        #if canImport(Darwin)
            var isOn: Int32 = 1
            setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &isOn, socklen_t(MemoryLayout<Int32>.size))
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr = in_addr(s_addr: UInt32(0x7f00_0001).bigEndian)
        let descriptor = descriptor
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if result != 0 { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }

    deinit { leave() }

    /// Sends what the peer takes; false unless it has taken all.
    @discardableResult
    package func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    /// Sends what the peer takes; a peer that has gone takes nothing.
    ///
    /// - Returns: Whether it has taken all.
    @discardableResult
    package func send(_ bytes: [UInt8]) -> Bool {
        #if canImport(Darwin)
            let flags: Int32 = 0
        #else
            let flags = Int32(MSG_NOSIGNAL)
        #endif
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { sendBytes(descriptor, $0.baseAddress, $0.count, flags) }
            if count <= 0 { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Closes the connection; not to be called while bytes are read.
    package func leave() {
        isOpen.withLock { isOpen in
            if isOpen { closeSocket(descriptor) }
            isOpen = false
        }
    }

    /// Reads to the end of the connection.
    package func readAll() async -> (text: String, end: End) {
        let (bytes, end) = await readBytes { _ in false }
        return (String(decoding: bytes, as: UTF8.self), end ?? .closed)
    }

    /// Reads until what has been read ends with `suffix`, or to the end of the connection.
    package func read(until suffix: String) async -> String { await read { $0.hasSuffix(suffix) } }

    /// Reads until it is enough, or to the end of the connection.
    package func read(until isEnough: @escaping @Sendable (String) -> Bool) async -> String {
        String(decoding: await readBytes { isEnough(String(decoding: $0, as: UTF8.self)) }.bytes, as: UTF8.self)
    }

    /// Reads at least so many bytes, or to the end of the connection.
    package func read(atLeast count: Int) async -> [UInt8] { await readBytes { $0.count >= count }.bytes }

    private func readBytes(
        until isEnough: @escaping @Sendable ([UInt8]) -> Bool
    ) async -> (bytes: [UInt8], end: End?) {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { [self] in
                var bytes: [UInt8] = []
                var scratch = [UInt8](repeating: 0, count: 64 << 10)
                while !isEnough(bytes) {
                    let count = recv(descriptor, &scratch, scratch.count, 0)
                    if count <= 0 { return continuation.resume(returning: (bytes, count == 0 ? .closed : .reset)) }
                    bytes += scratch.prefix(count)
                }
                continuation.resume(returning: (bytes, nil))
            }
        }
    }
}

private func closeSocket(_ descriptor: Int32) { close(descriptor) }

private func sendBytes(_ descriptor: Int32, _ base: UnsafeRawPointer?, _ count: Int, _ flags: Int32) -> Int {
    send(descriptor, base, count, flags)
}

/// The head and the body of a response that was read raw.
package func split(_ text: String) -> (head: String, body: String) {
    guard let mark = text.range(of: "\r\n\r\n") else { return (text, "") }
    return (String(text[..<mark.lowerBound]), String(text[mark.upperBound...]))
}

/// A `GET` request as bytes.
package func get(_ path: String = "/", fields: String...) -> String {
    "GET \(path) HTTP/1.1\r\nHost: test\r\n" + fields.map { "\($0)\r\n" }.joined() + "\r\n"
}
