#if os(Linux)
    import Testing

    @testable import MidstreamWire

    @Suite struct HostAddressTests {
        @Test(
            arguments: [
                ("127.0.0.1", [127, 0, 0, 1]), ("::1", Array(repeating: 0, count: 15) + [1]),
                ("[::1]", Array(repeating: 0, count: 15) + [1]),
            ] as [(String, [UInt8])])
        func `Addresses are read, and written as they are`(text: String, bytes: [UInt8]) throws {
            let address = try #require(HostAddress(literal: text, port: 8080))
            #expect(address.bytes == bytes)
            #expect(address.text?.port == 8080)
            #expect(address.text?.address == text.filter { $0 != "[" && $0 != "]" })
        }

        @Test(arguments: ["", "h.example", "127.0.0.1.", "127.1", "[127.0.0.1]", "::1%", "[::1"])
        func `Names aren't addresses`(text: String) { #expect(HostAddress(literal: text, port: 0) == nil) }

        @Test func `A socket's path has to fit`() {
            #expect(HostAddress(unixPath: "") == nil)
            #expect(HostAddress(unixPath: String(repeating: "a", count: 107)) != nil)
            #expect(HostAddress(unixPath: String(repeating: "a", count: 108)) == nil)
            #expect(HostAddress(unixPath: "/tmp/a")?.text == nil)
        }
    }
#endif
