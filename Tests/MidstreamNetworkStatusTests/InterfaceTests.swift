#if os(Linux)
    import Foundation
    import Glibc
    import Interception
    import TestSupport
    import Testing

    @testable import MidstreamNetworkStatus

    @Suite("Interfaces", .leavesNothing, .timeLimit(.minutes(10)))
    struct InterfaceTests {
        private func leads(_ text: String, by flags: Int = IFF_UP | IFF_RUNNING) -> Bool {
            var storage = sockaddr_storage()
            return withUnsafeMutablePointer(to: &storage) { storage in
                if text.contains(":") {
                    storage.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                        $0.pointee.sin6_family = sa_family_t(AF_INET6)
                        #expect(inet_pton(AF_INET6, text, &$0.pointee.sin6_addr) == 1)
                    }
                } else {
                    storage.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                        $0.pointee.sin_family = sa_family_t(AF_INET)
                        #expect(inet_pton(AF_INET, text, &$0.pointee.sin_addr) == 1)
                    }
                }
                return storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { Interfaces.leadSomewhere(by: flags, $0) }
            }
        }

        @Test("Addresses lead somewhere but for link-local ones")
        func addresses() {
            for address in [
                "192.0.2.1", "10.0.0.1", "169.253.1.1", "169.255.0.1", "168.254.0.1", "2001:db8::1", "fd00::1", "fec0::1",
                "fe40::1",
            ] {
                #expect(leads(address), "\(address)")
            }
            for address in ["169.254.0.1", "169.254.255.255", "fe80::1", "febf::1", "fe80:ffff::"] {
                #expect(!leads(address), "\(address)")
            }
            var packet = sockaddr(sa_family: sa_family_t(AF_PACKET), sa_data: sockaddr().sa_data)
            #expect(!Interfaces.leadSomewhere(by: IFF_UP | IFF_RUNNING, &packet))
        }

        @Test("Interfaces have to be up, running and none of the machine's own")
        func flags() {
            #expect(!leads("192.0.2.1", by: 0) && !leads("192.0.2.1", by: IFF_UP) && !leads("192.0.2.1", by: IFF_RUNNING))
            #expect(!leads("127.0.0.1", by: IFF_UP | IFF_RUNNING | IFF_LOOPBACK))
            #expect(leads("192.0.2.1", by: IFF_UP | IFF_RUNNING | IFF_BROADCAST | IFF_MULTICAST))
        }

        @Test("A watch tells of how things stand, and of each change, until it ends and closes its socket")
        func watch() async throws {
            var ends: [Int32] = [-1, -1]
            try #require(socketpair(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
            let kernel = ends[1]
            defer { close(kernel) }
            let changes = Locked(0)
            let watch = InterfaceWatch(socket: ends[0]) { changes.withLock { $0 += 1 } }
            await eventually { changes.withLock { $0 } == 1 }
            let message = [UInt8](repeating: 1, count: 500)
            for _ in 0..<3 {
                let before = changes.withLock { $0 }
                for _ in 0..<3 { #expect(send(kernel, message, message.count, 0) == message.count) }
                await eventually { changes.withLock { $0 } > before }
            }
            watch.end()
            await eventually { send(kernel, message, message.count, Int32(MSG_DONTWAIT)) < 0 && errno == ECONNREFUSED }
        }
    }
#endif
