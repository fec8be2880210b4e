#if os(Linux)
    import Glibc
    import MidstreamCore
    import MidstreamTransport
    import Testing

    @testable import MidstreamLoop

    struct AllowedAddressesTests {
        private func bytes(_ text: String) throws -> [UInt8] {
            var (four, six) = (in_addr(), in6_addr())
            if inet_pton(AF_INET, text, &four) == 1 { return withUnsafeBytes(of: four) { Array($0) } }
            try #require(inet_pton(AF_INET6, text, &six) == 1)
            return withUnsafeBytes(of: six) { Array($0) }
        }

        @Test(arguments: [
            "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.100.100.200", "100.127.255.255", "127.0.0.1",
            "127.255.255.255", "168.63.129.16", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.192", "192.0.2.1",
            "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "240.0.0.1",
            "255.255.255.255",
            "::", "::1", "::7f00:1", "::8.8.8.8", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "::ffff:0:8.8.8.8",
            "64:ff9b::10.0.0.1",
            "64:ff9b:1::8.8.8.8", "100::1", "2001::1", "2001:10::1", "2001:db8::1", "2001:db8::5efe:8.8.8.8", "2002:7f00:1::",
            "2002:a9fe:a9fe::1",
            "3fff::1",
            "2606:4700::5efe:10.0.0.1", "2606:4700::200:5efe:127.0.0.1", "4000::1", "5f00::1", "fc00::1", "fd00:ec2::254",
            "fe80::1",
            "fec0::1", "ff02::1",
        ]) func `Refused`(_ address: String) throws {
            #expect(try !AllowedAddresses(.publicOnly()).contains(bytes(address)))
            #expect(AllowedAddresses(.any).isAny)
        }

        @Test(arguments: [
            "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.1",
            "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.167.255.255", "192.169.0.0", "198.17.255.255",
            "198.20.0.0", "223.255.255.255", "168.63.129.15", "168.63.129.17",
            "2001:200::1", "2606:4700::1111", "2a00:1450::1", "3ffe::1", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1",
            "2606:4700::5efe:8.8.8.8",
        ]) func `Allowed`(_ address: String) throws {
            #expect(try AllowedAddresses(.publicOnly()).contains(bytes(address)))
        }

        @Test func `Exceptions are addresses and ranges`() throws {
            let allowed = AllowedAddresses(
                .publicOnly(except: ["10.1.2.3", "172.16.0.0/15", "fd00::/9", "[::1]", "192.168.7.9/24"]))
            #expect(allowed.problem == nil)
            for address in [
                "10.1.2.3", "172.17.255.255", "fd7f::1", "::1", "192.168.7.200", "::ffff:10.1.2.3", "64:ff9b::10.1.2.3",
                "2002:a01:203::",
            ] { #expect(try allowed.contains(bytes(address)), "\(address)") }
            for address in ["10.1.2.4", "172.18.0.0", "fd80::1", "::2", "192.168.8.1", "::ffff:10.1.2.4"] {
                #expect(try !allowed.contains(bytes(address)), "\(address)")
            }
            #expect(try AllowedAddresses(.publicOnly(except: ["0.0.0.0/0"])).contains(bytes("127.0.0.1")))
        }

        @Test(arguments: [
            "", "localhost", "10.0.0.0/33", "::1/129", "10.0.0.0/", "10.0.0.0/8/8", "10.0.0.0/+8", "10.1", "10.0.0.0/-1",
            "[10.0.0.1]",
        ])
        func `What is no exception is told`(_ text: String) {
            #expect(AllowedAddresses(.publicOnly(except: [text])).problem?.code == .invalidRequest)
        }

        @Test func `Addresses with ports and without`() {
            func parts(_ text: String) -> String? {
                AddressText(text).map { "\($0.hostInURL) \($0.port.map { "\($0)" } ?? "none")" }
            }
            #expect(parts("10.1.2.3") == "10.1.2.3 none")
            #expect(parts("10.1.2.3:65535") == "10.1.2.3 65535")
            #expect(parts("::1") == "[::1] none")
            #expect(parts("[::1]") == "[::1] none")
            #expect(parts("[::1]:80") == "[::1] 80")
            for text in [
                "", "h", "h:80", "10.1.2.3:", "10.1.2.3:0", "10.1.2.3:65536", "10.1.2.3:x", "a@10.1.2.3", "10.1.2.3/8",
                "[10.1.2.3]:1", "[::1", "10.1.2.3?",
            ] {
                #expect(parts(text) == nil, "\(text)")
            }
        }
    }
#endif
