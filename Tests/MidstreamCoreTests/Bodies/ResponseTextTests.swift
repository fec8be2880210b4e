import Foundation
import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("The text of a response", .leavesNothing)
struct ResponseTextTests {
    private func response(_ type: String?, _ body: HTTPBody) -> HTTPResponse {
        var response = HTTPResponse(status: .ok, body: body, request: HTTPRequest("https://h/"))
        response.headers[.contentType] = type
        return response
    }

    @Test(
        arguments: [
            (nil, [0xC3, 0xA4], "ä"), ("text/html; charset=ISO-8859-1", [0x80, 0xE4], "€ä"),
            ("text/html; charset=ISO-8859-15", [0xA4, 0xE4], "€ä"), ("text/html; charset=koi8-r", [0xF0, 0xD2], "Пр"),
            ("text/html; charset=gb2312", [0xC4, 0xE3, 0xBA, 0xC3], "你好"),
            ("text/html; charset=GBK", [0x81, 0x40], "\u{4E02}"),
            ("text/html; charset=gb18030", [0x81, 0x30, 0x81, 0x30], "\u{80}"),
        ] as [(String?, [UInt8], String)])
    func aBodyInMemoryIsReadByItsCharset(type: String?, bytes: [UInt8], text: String) throws {
        #expect(try response(type, .bytes(bytes)).string() == text)
    }

    @Test func aCharsetThatIsNotTheBodysSaysSo() async {
        let response = response("text/plain; charset=gbk", .bytes([0xC4]))
        let error = await httpError { try response.string() }
        #expect(error?.code == .decoding && error?.message == "The body is no text of the charset \"gbk\".")
        #expect(error?.request?.urlText == "https://h/" && error?.response?.body.bytes == [0xC4])
    }

    @Test func aStreamedBodyIsTextOnceItIsCollected() async throws {
        let stub = StubTransport(
            status: .ok, headers: ["Content-Type": "text/plain; charset=latin1"], body: .incoming(ArrivingBody([[0xE4], [0xF6]])))
        var response = try await testClient(transport: stub).stream(HTTPRequest("https://h/"))
        let streamed = response
        #expect(await httpError { try streamed.string() }?.code == .decoding)
        response.body = .bytes(try await response.body.collect(upTo: 10))
        #expect(try response.string() == "äö")
    }
}
