@testable import MidstreamCore
import Foundation
import MidstreamTesting
import TestSupport
import Testing

@Suite("Redaction", .leavesNothing)
struct RedactionTests {
    @Test(
        "user, password and secret query items are withheld, and nothing else",
        arguments: [
            ("https://h/x?a=1#f", "https://h/x?a=1#f"),
            ("https://u:p@h:81/x", "https://‹withheld›@h:81/x"),
            ("https://u@h", "https://‹withheld›@h"),
            ("https://h?a=1&access_token=S&b=2", "https://h?a=1&access_token=‹withheld›&b=2"),
            ("https://h?API_KEY=S", "https://h?API_KEY=‹withheld›"),
            ("https://h?AWSAccessKeyId=S&Expires=1", "https://h?AWSAccessKeyId=‹withheld›&Expires=1"),
            ("https://h?access%5Ftoken=S", "https://h?access%5Ftoken=‹withheld›"),
            ("https://h?sig=S#f", "https://h?sig=‹withheld›#f"),
            ("x?token=S&token=S", "x?token=‹withheld›&token=‹withheld›"),
            ("https://h?token", "https://h?token"),
            ("https://h?a=token=x", "https://h?a=token=x"),
            ("https://h/cb#access_token=S&state=1", "https://h/cb#access_token=‹withheld›&state=1"),
            ("https://h?a=1#b=2&token=S", "https://h?a=1#b=2&token=‹withheld›"),
            ("https://h?a=b?&token=S&c", "https://h?a=b?&token=‹withheld›&c"),
            ("?token=S#token=S", "?token=‹withheld›#token=‹withheld›"),
            ("https://h/token=1?a?token=1#b#token=1&", "https://h/token=1?a?token=1#b#token=1&"),
            ("https://h?a=1&&token=S&", "https://h?a=1&&token=‹withheld›&"), ("https://h?=&=1", "https://h?=&=1"),
            ("https://h?%74%6F%6B%65%6E=S&%zz=1&t%4fken=S", "https://h?%74%6F%6B%65%6E=‹withheld›&%zz=1&t%4fken=‹withheld›"),
            ("https://h?user[password]=S&a=1", "https://h?user[password]=‹withheld›&a=1"),
            ("https://h?a%5Bb%5D%5Btoken%5D%5B%5D=S&x[]=1", "https://h?a%5Bb%5D%5Btoken%5D%5B%5D=‹withheld›&x[]=1"),
            ("https://h?ü[password]=S", "https://h?ü[password]=‹withheld›"),
            ("https://h?Input.Password=S&tokens[n]=1", "https://h?Input.Password=‹withheld›&tokens[n]=1"),
            ("https://h?token=S%", "https://h?token=‹withheld›"), ("https://h?token%=1", "https://h?token%=1"),
            ("https://h/a@b", "https://h/a@b"),
            ("/users/a@b?x=1", "/users/a@b?x=1"),
            ("https://h/#/cb?access_token=S&a=1", "https://h/#/cb?access_token=‹withheld›&a=1"),
            ("https://h/#!a&token=S?x=1&code=S", "https://h/#!a&token=‹withheld›?x=1&code=‹withheld›"),
            ("https://h?a=/x?b=1%26token=S&b=1", "https://h?a=‹withheld›&b=1"),
            ("https://h?a=https%3a%2F%2Fh%3F%74oken%3dS", "https://h?a=‹withheld›"),
            ("https://h?a=x%2525253Fb%25252526user%25255Btoken%25255D%2525253DS", "https://h?a=‹withheld›"),
            ("https://h?a=/x%3Ftokens%3D1%26b%3D%25&b=%3D%&c=?%2", "https://h?a=/x%3Ftokens%3D1%26b%3D%25&b=%3D%&c=?%2"),
            ("https://h/#?", "https://h/#?"), ("https://h/#a=1?b=2", "https://h/#a=1?b=2"),
            ("{scheme}://u:p@h/{a}?b=c@d", "{scheme}://‹withheld›@h/{a}?b=c@d"), ("http{s}://u:p/p@h", "http{s}://‹withheld›@h"),
            ("{}://h/a@b?token=S#token=S", "{}://h/a@b?token=‹withheld›#token=‹withheld›"), ("//u:p/p@h", "//‹withheld›@h"),
            ("?token=S&a=b://u@h", "?token=‹withheld›&a=b://u@h"),
        ])
    func redacted(url: String, expected: String) {
        #expect(URLText.redacted(url) == expected)
    }

    @Test("so are those of names that were added, nested ones and whatever their letters are")
    func addedNames() {
        URLText.treatAsSecret(item: "Пароль")
        for name in ["пароль", "ПАРОЛЬ", "user[пароль]", "user%5B\("пароль".percentEncoded)%5D", "a.ПАРОЛЬ"] {
            #expect(URLText.redacted("https://h?a=1&\(name)=S") == "https://h?a=1&\(name)=‹withheld›")
        }
        #expect(URLText.redacted("https://h?пароли=1&x[пароли]=1") == "https://h?пароли=1&x[пароли]=1")
    }

    @Test(
        "a password that makes the URL something else isn't shown either",
        arguments: [
            "user:S@host/path", "https://user:S/S@host/", "https://user:S?S@host/", "https://user:S#S@host/",
            "https:user:S@host/",
            "https:/user:S@host",
        ])
    func misplaced(url: String) {
        #expect(!URLText.redacted(url).contains("S"), "\(URLText.redacted(url))")
        #expect(!HTTPRequest(url).description.contains("S"))
    }

    @Test("the error for a URL with a misplaced password doesn't show it")
    func errorForMisplaced() async {
        for url in ["user:S3CRET@host/path", "https://user:S3CRET/x@host/", "ftp://user:S3CRET@host"] {
            let error = await httpError { try await testClient(transport: StubTransport.ok).send(HTTPRequest(url)) }
            #expect(error?.code == .invalidRequest)
            #expect(error.map { "\($0) \($0.message) \($0.localizedDescription)" }?.contains("S3CRET") == false)
        }
    }

    @Test(
        "URLs in headers are redacted where headers are shown", arguments: ["Location", "Content-Location", "Referer", "referer"])
    func inHeaders(name: String) {
        let headers: HTTPHeaders = [.init(name): "https://u:S@h/cb?code=S&state=1"]
        #expect(headers.description == "\(name): https://‹withheld›@h/cb?code=‹withheld›&state=1")
        #expect(headers[.init(name)] == "https://u:S@h/cb?code=S&state=1")
    }

    @Test("each URL in a Link is redacted, by the usual names and by a client's own")
    func links() {
        let link = #"<https://u:S@h/a?f="1"&api_key=S&page=2>; rel="next", <?token=S&id=S>; rel=last; anchor="/b?sig=S#c""#
        let shown =
            #"<https://‹withheld›@h/a?f="1"&api_key=‹withheld›&page=2>; rel="next", <?token=‹withheld›&id=S>"#
            + #"; rel=last; anchor="/b?sig=‹withheld›#c""#
        let headers: HTTPHeaders = [.link: link]
        #expect(headers.description == "Link: \(shown)")
        let redaction = Redaction(queryItems: ["id"], mark: "…")
        #expect(
            redaction.value(link, of: "link", in: headers)
                == shown.replacing("id=S", with: "id=…").replacing("‹withheld›", with: "…"))
    }

    @Test(
        "a client's own names are looked for behind a fragment's route as well",
        arguments: [
            ("https://h/#/cb?session=S&a=1", "https://h/#/cb?session=‹withheld›&a=1"),
            ("https://h/#session=S?session=S?&a=1", "https://h/#session=‹withheld›?session=‹withheld›&a=1"),
            ("https://h/?session=S#!/a?\u{301}a=1&session=S", "https://h/?session=‹withheld›#!/a?\u{301}a=1&session=‹withheld›"),
        ])
    func routeInFragment(url: String, expected: String) {
        let redaction = Redaction(queryItems: ["session"])
        #expect(redaction.url(url) == expected)
        #expect(redaction.value(url, of: .location, in: [:]) == expected)
    }

    @Test("a request shows its headers and what kind of body it has")
    func request() {
        var request = HTTPRequest(.post, "https://h/?key=S", headers: ["Authorization": "S", "A": "1"], body: .text("SSS"))
        request.headers.markSensitive("A")
        #expect(request.description == "POST https://h/?key=‹withheld›" && request.redactedURL == "https://h/?key=‹withheld›")
        #expect(request.debugDescription == "\(request)\nAuthorization: ‹withheld›\nA: ‹withheld›\n[3 bytes]")
    }

    @Test("an error shows code, message, request, status and what lies behind it")
    func error() {
        let request = HTTPRequest("https://u:S@h/")
        let inner = HTTPError(.connection, "refused")
        let error = HTTPError(
            .retriesExhausted, "Tried thrice.", request: request,
            response: HTTPResponse(status: 503, headers: ["Set-Cookie": "S"], body: .text("S"), request: request),
            underlying: inner)
        #expect(
            error.description
                == "retriesExhausted: Tried thrice. [GET https://‹withheld›@h/] [503 Service Unavailable] (connection: refused)")
        #expect(error.debugDescription == error.description)
        #expect(error.localizedDescription == "Tried thrice.")
        #expect("\(HTTPError(.tls, underlying: Failure("S")))" == "tls: tls (Failure)")
        #expect(HTTPError(.tls).phase == .maybeProcessed && error.phase == .answered)
    }
}
