import MidstreamCore
import Testing

@testable import MidstreamSigning

@Suite struct CanonicalRequestTests {
    @Test("only two hexadecimal digits make an escape of a percent sign")
    func escapes() throws {
        let request = HTTPRequest("https://b.s3.example/%7e%2f/%+5%g0/%ZZ%-1%4")
        let canonical = try CanonicalRequest(request, isS3: true)
        #expect(canonical.text.split(separator: "\n")[1] == "/~%2F/%25%2B5%25g0/%25ZZ%25-1%254")
    }

    @Test("the path is sent as it is signed: S3 takes a plus sign for a space")
    func path() throws {
        let canonical = try CanonicalRequest(HTTPRequest("https://b.s3.example/a+b=c@(1)/%2f/%2e%2E/"), isS3: true)
        #expect(canonical.url == "https://b.s3.example/a%2Bb%3Dc%40%281%29/%2F/%2e%2E/")
        #expect(canonical.text.split(separator: "\n")[1] == "/a%2Bb%3Dc%40%281%29/%2F/../")
    }

    @Test(
        "the host is sent as it is signed",
        arguments: [("http://u:p@NAS:9000/a", "nas:9000"), ("https://Nas:0443/a", "nas"), ("https://[::A]:8/a", "[::a]:8")])
    func host(url: String, host: String) throws {
        let canonical = try CanonicalRequest(HTTPRequest(url), isS3: true)
        #expect(canonical.text.contains("\nhost:\(host)\n"))
        #expect(canonical.url.hasSuffix("://\(host)/a"))
    }

    @Test("what is made anew for each socket isn't signed")
    func upgrade() throws {
        let headers: HTTPHeaders = [
            "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Key": "a", "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Extensions": "permessage-deflate", "Sec-WebSocket-Protocol": "v1",
        ]
        let canonical = try CanonicalRequest(HTTPRequest("https://a.example/feed", headers: headers), isS3: false)
        #expect(canonical.signedHeaders == "host;sec-websocket-protocol")
    }
}
