@testable import MidstreamCore
import TestSupport
import Testing

@Suite("Headers as transports receive them", .leavesNothing)
struct FieldBufferTests {
    private func headers(_ lines: [UInt8]...) -> HTTPHeaders {
        var buffer = HTTPHeaders.FieldBuffer()
        for line in lines { line.withUnsafeBytes { buffer.append(line: $0) } }
        return HTTPHeaders(buffer)
    }

    private func headers(_ lines: String...) -> [String] {
        var buffer = HTTPHeaders.FieldBuffer()
        for line in lines { Array(line.utf8).withUnsafeBytes { buffer.append(line: $0) } }
        return HTTPHeaders(buffer).map { "\($0.name): \($0.value)" }
    }

    @Test("lines are taken with and without their end, and values trimmed")
    func lines() {
        #expect(headers("A: 1\r\n", "b:2", "C:\t 3 \r\n", "D:\r\n", "A: 4\n") == ["A: 1", "b: 2", "C: 3", "D: ", "A: 4"])
    }

    @Test("a folded line continues the one before it")
    func folded() {
        #expect(headers("A: 1\r\n", "  and more\r\n", "\tstill\r\n", "B: 2\r\n") == ["A: 1 and more still", "B: 2"])
    }

    @Test("lines without a name or a colon, and empty ones, are left out")
    func noFields() {
        #expect(headers("nothing\r\n", ": no name\r\n", "", "A: 1\r\n") == ["A: 1"])
    }

    @Test("a name that holds a line end or a NUL is no name, and takes what continues it along")
    func brokenNames() {
        #expect(headers("A: 1\r\n", "B\nC: 2\r\n", " more\r\n", "D\rE: 3", "F\0: 4", "G: 5\r\n", " 6\r\n") == ["A: 1", "G: 5 6"])
        #expect(headers(" leading: 1\r\n", "A: 1\r\n", "nothing\r\n", " more\r\n") == ["A: 1"])
    }

    @Test("a CR or NUL within a value becomes a space")
    func control() {
        #expect(headers("A: x\ry\0z\r\n") == ["A: x y z"])
    }

    @Test("values that aren't UTF-8 are read as ISO 8859-1 and keep their bytes")
    func latin1() {
        var received = headers(Array("A: gr".utf8) + [0xFC] + Array("n".utf8), Array("B: grün".utf8))
        #expect(received["A"] == "grün")
        #expect(received["B"] == "grün")
        #expect(received.values("A") == received.values("B"))
        received["C"] = "1"
        received.remove("B")
        #expect(received.bytes == Array("A:gr".utf8) + [0xFC] + Array("n\nC:1\n".utf8))
    }
}
