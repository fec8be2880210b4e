#if os(Linux)
    import Foundation
    import TestSupport

    /// An authority that issues what servers had better not show, by OpenSSL's program.
    final class TestAuthority: Sendable {
        struct Failed: Error { let output: String }

        private let folder: TemporaryFolder

        init() async throws {
            folder = try TemporaryFolder()
            let made = try await ChildProcess.run("/bin/sh", ["-c", Self.script, "sh", folder.url.path])
            guard made.status == .exited(0) else { throw Failed(output: made.errorText) }
        }

        /// The path of what has to be trusted.
        var root: String { path("root.pem") }

        /// A server with one of the certificates, all of which are for 127.0.0.1: `good`, `expired`, `early`; `alone`, which another authority
        /// has issued, and `chain`, the same with that authority's; and `named`, which is for server.example instead.
        func server(_ name: String) throws -> RawServer {
            let tls = try TLSServer(certificate: path("\(name).pem"), key: path("\(name).key"), offersHTTP2: false)
            return try RawServer.ok(tls: tls)
        }

        private func path(_ name: String) -> String { folder.url.appendingPathComponent(name).path }

        private static let script = """
            set -e
            cd "$1"
            cat >ca.cnf <<'END'
            [ca]
            default_ca = own
            [own]
            database = index
            new_certs_dir = .
            rand_serial = yes
            unique_subject = no
            default_md = sha256
            policy = any
            [any]
            commonName = supplied
            [req]
            prompt = no
            distinguished_name = name
            [name]
            CN = Midstream test
            [authority]
            basicConstraints = critical, CA:true
            keyUsage = critical, keyCertSign
            [server]
            basicConstraints = critical, CA:false
            subjectAltName = IP:127.0.0.1
            [named]
            basicConstraints = critical, CA:false
            subjectAltName = DNS:server.example
            END
            touch index
            key="-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -config ca.cnf"
            openssl req -x509 $key -extensions authority -subj /CN=root -days 30 -keyout root.key -out root.pem
            # NAME SECTION ISSUER YEAR YEAR
            issue() {
                openssl req -new $key -subj "/CN=$1" -keyout "$1.key" -out "$1.csr"
                openssl ca -batch -notext -config ca.cnf -extensions "$2" -cert "$3.pem" -keyfile "$3.key" \\
                    -startdate "${4}0101000000Z" -enddate "${5}0101000000Z" -in "$1.csr" -out "$1.pem"
            }
            issue good server root 2020 2100
            issue named named root 2020 2100
            issue expired server root 2000 2001
            issue early server root 2100 2101
            issue between authority root 2020 2100
            issue alone server between 2020 2100
            cat alone.pem between.pem >chain.pem
            cp alone.key chain.key
            """
    }
#endif
