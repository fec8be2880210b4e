#if os(Linux)
    internal import CTLS
    import Glibc
    internal import Interception
    internal import MidstreamTransport

    /// Where the system keeps the authorities that it trusts.
    enum SystemAuthorities {
        private static let found = Locked<(file: String?, folder: String?)?>(nil)

        /// The folder if there is one with certificates by their hash, since only those that are needed are read then; else the file. What the
        /// environment names takes its place.
        ///
        /// - Throws: ``HTTPError`` when there is no descriptor to look with.
        static func find() throws -> (file: String?, folder: String?) {
            try found.withLock { found in
                let places = try found ?? look()
                found = places
                return places
            }
        }

        private static func look() throws -> (file: String?, folder: String?) {
            let environment = EnvironmentAuthorities()
            let standard = X509_get_default_cert_file().map { String(cString: $0) }
            let files = [standard, "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"]
            let file = environment.file ?? files.compactMap { $0 }.first { access($0, R_OK) == 0 }
            if let folders = environment.folders { return (file, folders) }
            let folder = X509_get_default_cert_dir().map { String(cString: $0) } ?? "/etc/ssl/certs"
            return try isHashed(folder) ? (environment.file, folder) : (file, nil)
        }

        private static func isHashed(_ folder: String) throws -> Bool {
            guard let stream = opendir(folder) else {
                try TLSContext.checkDescriptors()
                return false
            }
            defer { closedir(stream) }
            while let entry = readdir(stream) {
                // Such as 5ad8a5d6.0.
                let name = withUnsafePointer(to: &entry.pointee.d_name) {
                    String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
                }
                if name.utf8.count == 10, name.hasSuffix(".0"),
                    name.utf8.prefix(8).allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit })
                {
                    return true
                }
            }
            return false
        }
    }
#endif
