#if os(Linux)
    import Glibc

    /// Where the environment says that the authorities are which the system trusts, as OpenSSL, Go and Python read it.
    package struct EnvironmentAuthorities {
        /// A file of certificates as PEM, in place of the system's file.
        package let file: String?
        /// Folders of certificates by their hash, with a colon between them, in place of the system's.
        package let folders: String?

        /// Reads `SSL_CERT_FILE` and `SSL_CERT_DIR`; a program that has more rights than whoever started it does not.
        package init() {
            file = Self.value("SSL_CERT_FILE")
            folders = Self.value("SSL_CERT_DIR")
        }

        private static func value(_ name: String) -> String? {
            guard getuid() == geteuid(), getgid() == getegid() else { return nil }
            return getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
        }
    }
#endif
