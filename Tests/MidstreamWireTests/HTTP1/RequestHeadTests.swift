#if os(Linux)
    import MidstreamCore
    import MidstreamLoop
    import TestSupport
    import Testing

    @testable import MidstreamWire

    @Suite(.leavesNothing) struct RequestHeadTests {
        private func lines(
            _ request: HTTPRequest, _ framing: RequestHead.BodyFraming = .none, isForwarded: Bool = false
        ) -> [String] {
            let head = RequestHead(
                request: request, framing: RequestFraming(request), bodyFraming: framing, acceptEncoding: nil,
                isForwarded: isForwarded, proxyAuthorization: isForwarded ? "Basic eA==" : nil)
            let text = String(decoding: head.bytes(), as: UTF8.self)
            #expect(text.hasSuffix("\r\n\r\n"))
            return text.split(separator: "\r\n").map(String.init)
        }

        @Test(arguments: [
            ("http://h.example", "/", "h.example"), ("http://h.example/", "/", "h.example"),
            ("http://h.example?q", "/?q", "h.example"), ("http://h.example/a%20b?c=d&e#f", "/a%20b?c=d&e", "h.example"),
            ("http://h.example#f", "/", "h.example"), ("http://h.example:80/a", "/a", "h.example"),
            ("http://h.example:/a", "/a", "h.example"), ("https://h.example:443/a", "/a", "h.example"),
            ("https://h.example:80/a", "/a", "h.example:80"), ("http://u:p@h.example/@", "/@", "h.example"),
            ("http://[::1]:8080/a", "/a", "[::1]:8080"), ("http://[::1]/a:80", "/a:80", "[::1]"),
        ])
        func `The target is the path and the query`(url: String, target: String, host: String) {
            #expect(lines(HTTPRequest("\(raw: url)")) == ["GET \(target) HTTP/1.1", "Host: \(host)"])
        }

        @Test func `A proxy is told the whole URL, and who asks`() {
            #expect(
                lines(HTTPRequest("http://u:p@h.example:81?q#f"), isForwarded: true) == [
                    "GET http://h.example:81/?q HTTP/1.1", "Host: h.example:81", "Proxy-Authorization: Basic eA==",
                ])
        }

        @Test func `The framing is the transport's, and the request's own host comes first`() {
            let request = HTTPRequest(
                .post, "http://h.example/",
                headers: ["X-A": "1", "Content-Length": "99", "Transfer-Encoding": "gzip", "Host": "other", "X-A": ""],
                body: .text("abc"))
            #expect(
                lines(request, .length(3)) == [
                    "POST / HTTP/1.1", "Host: other", "X-A: 1", "X-A:", "Content-Type: text/plain; charset=utf-8",
                    "Content-Length: 3",
                ])
            #expect(lines(request, .chunked).last == "Transfer-Encoding: chunked")
        }
    }
#endif
