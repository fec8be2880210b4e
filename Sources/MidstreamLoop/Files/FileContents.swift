#if os(Linux)
    import Glibc

    package enum FileContents {
        /// All bytes of a file; nil when it can't be read.
        package static func read(_ path: String) -> [UInt8]? {
            guard let file = fopen(path, "re") else { return nil }
            defer { fclose(file) }
            var bytes: [UInt8] = []
            while true {
                let chunk = [UInt8](unsafeUninitializedCapacity: 64 << 10) { buffer, count in
                    count = fread(buffer.baseAddress, 1, buffer.count, file)
                }
                if chunk.isEmpty { return ferror(file) == 0 ? bytes : nil }
                bytes += chunk
            }
        }
    }
#endif
