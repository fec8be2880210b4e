#if Curl && os(Linux)
    import Glibc

    /// A connection's two ends, hashed.
    struct ConnectionEnds: Hashable {
        private let hash: Int

        init(_ remote: UnsafePointer<CChar>?, _ remotePort: Int32, _ local: UnsafePointer<CChar>?, _ localPort: Int32) {
            var hasher = Hasher()
            if let remote { hasher.combine(bytes: UnsafeRawBufferPointer(start: remote, count: strlen(remote))) }
            if let local { hasher.combine(bytes: UnsafeRawBufferPointer(start: local, count: strlen(local))) }
            hasher.combine(remotePort)
            hasher.combine(localPort)
            hash = hasher.finalize()
        }
    }
#endif
