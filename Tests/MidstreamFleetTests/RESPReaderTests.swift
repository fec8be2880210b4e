import MidstreamCore
import TestSupport
import Testing

@testable import MidstreamFleet

@Suite("Replies of Redis")
struct RESPReaderTests {
    private func values(_ text: String, cutAt size: Int = .max) throws -> [RESPValue] {
        var reader = RESPReader()
        var values: [RESPValue] = []
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: min(size, max(1, bytes.count))) {
            reader.append(Array(bytes[start..<min(bytes.count, start + min(size, bytes.count))]))
            while let value = try reader.next() { values.append(value) }
        }
        return values
    }

    @Test("are read however they are cut", arguments: [1, 2, 3, 7, .max])
    func kinds(size: Int) throws {
        let text =
            "+OK\r\n-ERR no\r\n:-42\r\n$5\r\na\r\nbc\r\n$0\r\n\r\n$-1\r\n*-1\r\n*0\r\n*2\r\n*1\r\n:1\r\n*2\r\n$1\r\nx\r\n*0\r\n"
        #expect(
            try values(text, cutAt: size) == [
                .text("OK"), .error("ERR no"), .integer(-42), .bytes(Array("a\r\nbc".utf8)), .bytes([]), .bytes(nil), .array(nil),
                .array([]), .array([.array([.integer(1)]), .array([.bytes(Array("x".utf8)), .array([])])]),
            ])
    }

    @Test(
        "that make no sense are refused",
        arguments: [
            "?\r\n", "\r\n", ":x\r\n", ":\r\n", "$-2\r\n", "$9000000\r\n", "*-2\r\n", "*1000001\r\n", "$1\r\nxy\r\n", "+a\n",
            "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n", "*1000000\r\n*1000000\r\n", ":99999999999999999999\r\n",
        ])
    func malformed(text: String) {
        #expect(throws: RESPReader.Malformed.self) { _ = try values(text) }
    }

    @Test("that never end don't grow without bound")
    func endless() throws {
        var reader = RESPReader()
        #expect(throws: RESPReader.Malformed.self) {
            for _ in 0..<100 {
                reader.append(Array(repeating: UInt8(ascii: "+"), count: 1 << 10))
                while try reader.next() != nil {}
            }
        }
    }

    @Test("are as long as allowed")
    func longest() throws {
        let text = "$\(8 << 20)\r\n" + String(repeating: "x", count: 8 << 20) + "\r\n"
        #expect(try values(text).count == 1)
    }
}

@Suite("A server's URL", .leavesNothing)
struct RedisAddressTests {
    @Test("says where it is, and how to begin")
    func good() throws {
        let full = try RedisAddress(.redis("rediss://us%3Aer:p%40ss@redis.test:7000/3"))
        #expect(full.origin == HTTPOrigin("https://redis.test:7000") && full.tls != nil)
        #expect(
            full.greeting(as: "x").map(\.words) == [
                ["AUTH", "us:er", "p@ss"], ["SELECT", "3"], ["CLIENT", "SETNAME", "x"],
            ])
        let short = try RedisAddress(.redis("redis://redis.test"))
        #expect(short.origin == HTTPOrigin("http://redis.test:6379") && short.tls == nil)
        #expect(short.greeting(as: "x").count == 1)
        let password = try RedisAddress(.redis("redis://:secret@[::1]/"))
        #expect(password.greeting(as: "x").first?.words == ["AUTH", "secret"])
        let unix = try RedisAddress(.redis("unix:///run/redis%20a.sock?db=2"))
        #expect(unix.socketPath == "/run/redis a.sock" && unix.database == 2)
    }

    @Test(
        "that is none is refused",
        arguments: [
            "http://h", "redis://", "redis://u@h", "redis://h/a", "redis://h?x", "unix://a", "unix:///a?b=1", "redis://h:65536",
            "rediss://h:0", "redis://h/-1",
        ])
    func bad(url: String) { #expect(throws: FleetServer.Invalid.self) { try RedisAddress(.redis(url)) } }

    @Test("shows no password")
    func secrets() {
        let server = FleetServer.redis("redis://user:canary@redis.test")
        #expect(!"\(server) \(String(reflecting: server))".contains("canary"))
        var text = ""
        dump(server, to: &text)
        #expect(!text.contains("canary"))
    }
}
